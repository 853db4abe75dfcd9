// What all RTCP packets have in common (RFC 3550, 6.4): type, count and length, both directions. A datagram holds several, in any
// order and with or without a report in front (RFC 5506): PacketReader walks them. What is in them: report.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/result.hpp"

namespace live::wire::rtcp {

inline constexpr std::size_t kReportsMax = 31;  // report blocks, chunks, SSRCs: what the five bits of a count can say
inline constexpr std::size_t kPacketsMax = 64;  // in one datagram

enum class Type : std::uint8_t {
    sender_report = 200,
    receiver_report = 201,
    source_description = 202,
    goodbye = 203,
    transport_feedback = 205,  // `count` is the format: kNackFormat, kTransportWideFormat
    payload_feedback = 206,    // kPliFormat, kFirFormat
};
inline constexpr std::uint8_t kNackFormat = 1;
inline constexpr std::uint8_t kTransportWideFormat = 15;
inline constexpr std::uint8_t kPliFormat = 1;
inline constexpr std::uint8_t kFirFormat = 4;

// One packet of a datagram, its body not read yet.
struct Packet {
    Type type{};  // may be one that has no name here: skip it
    std::uint8_t count = 0;
    Bytes body;  // borrowed, behind the four bytes of the head, without padding

    bool is(Type wanted, std::uint8_t format) const { return type == wanted && count == format; }
};

class PacketReader {
public:
    explicit PacketReader(Bytes datagram) : rest_(datagram) {}
    // Nothing at the end. Errc::need_more, Errc::malformed, Errc::limit above kPacketsMax; then stop.
    Result<std::optional<Packet>> next();

private:
    Bytes rest_;
    std::size_t packets_ = 0;
};

// Writes the head, lets `body` append the rest, and fills the length in. The body ends on whole words.
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
