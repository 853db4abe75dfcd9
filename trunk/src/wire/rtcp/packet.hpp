// The common RTCP header (RFC 3550, 6.4): type, count and length, both directions. A datagram contains several packets, in any
// order and with or without a leading report (RFC 5506); PacketReader iterates over them. Their content is in report.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "base/result.hpp"

namespace live::wire::rtcp {

inline constexpr std::size_t kReportsMax = 31;  // report blocks, chunks, SSRCs: the maximum of the five-bit count
inline constexpr std::size_t kPacketsMax = 64;  // in one datagram

enum class Type : std::uint8_t {
    sender_report = 200,
    receiver_report = 201,
    source_description = 202,
    goodbye = 203,
    transport_feedback = 205,  // `count` is the format: kNackFormat, kTransportWideFormat
    payload_feedback = 206,    // kPliFormat, kFirFormat, kApplicationFormat
};
inline constexpr std::uint8_t kNackFormat = 1;
inline constexpr std::uint8_t kTransportWideFormat = 15;
inline constexpr std::uint8_t kPliFormat = 1;
inline constexpr std::uint8_t kFirFormat = 4;
inline constexpr std::uint8_t kApplicationFormat = 15;  // REMB among others

// One packet of a datagram; its body is not parsed yet.
struct Packet {
    Type type{};  // may be a value not named here: skip it
    std::uint8_t count = 0;
    Bytes body;  // borrowed, after the four-byte header, without padding

    bool is(Type wanted, std::uint8_t format) const { return type == wanted && count == format; }
};

class PacketReader {
public:
    explicit PacketReader(Bytes datagram) : rest_(datagram) {}
    // nullopt at the end. Errc::need_more, Errc::malformed, Errc::limit above kPacketsMax; stop after an error.
    Result<std::optional<Packet>> next();

private:
    Bytes rest_;
    std::size_t packets_ = 0;
};

// Writes the header, calls `body` to append the rest, and fills in the length. The body must end on a 32-bit boundary.
template <class Body>
void write_packet(ByteWriter& out, Type type, std::size_t count, Body body) {
    CHECK(count <= kReportsMax);
    const std::size_t at = out.size();
    const auto head = static_cast<std::uint32_t>((0x80U | count) << 24 | std::uint32_t{static_cast<std::uint8_t>(type)} << 16);
    out.u32be(head);
    body();
    const std::size_t bytes = out.size() - at;
    CHECK(bytes % 4 == 0 && bytes / 4 - 1 <= 0xFFFF);
    out.patch_u32be(at, static_cast<std::uint32_t>(head | (bytes / 4 - 1)));
}

}  // namespace live::wire::rtcp
