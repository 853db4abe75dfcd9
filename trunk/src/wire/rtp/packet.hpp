// RTP packets (RFC 3550, 5.1) with their header extensions (RFC 8285), both directions, and in-place header rewriting: a packet
// is prepared once per source, and the copies for players differ in a few fields only. Payload formats are in wire/rtp_payload,
// encryption in engine/srtp/session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::rtp {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kCsrcsMax = 15;
inline constexpr std::size_t kPacketBytesMax = 2'048;  // the largest datagram we read from a socket; WebRTC stays below 1,500
inline constexpr std::size_t kExtensionsMax = 32;

// RFC 8285, 4.2 and 4.3; other profiles are private and are passed through unparsed.
inline constexpr std::uint16_t kOneByteProfile = 0xBEDE;
inline constexpr std::uint16_t kTwoByteProfile = 0x1000;  // the last four bits are arbitrary

struct Packet {
    bool marker = false;
    std::uint8_t payload_type = 0;
    std::uint16_t sequence = 0;
    std::uint32_t timestamp = 0;
    std::uint32_t ssrc = 0;
    std::uint8_t csrc_count = 0;
    std::array<std::uint32_t, kCsrcsMax> csrcs{};
    std::optional<std::uint16_t> extension_profile;
    std::size_t extension_at = 0;  // offset in the datagram, after the profile and the length
    Bytes extension;               // borrowed, in whole 32-bit words
    Bytes payload;                 // borrowed, without padding
    std::uint8_t padding = 0;      // padding bytes at the end
};

// True for possible RTP or RTCP (RFC 7983): version 2 and at least the size of an RTCP header.
bool looks_like_rtp(Bytes datagram);
// Reports whether such a datagram is RTCP: its second byte is 192 to 223 (RFC 5761, 4).
bool looks_like_rtcp(Bytes datagram);

// Errc::need_more when the header is truncated, Errc::malformed (a wrong version, padding longer than the payload), Errc::limit.
// The bound is for datagrams; packets over TCP may be longer.
Result<Packet> parse_packet(Bytes datagram, std::size_t bytes_max = kPacketBytesMax);

struct Extension {
    std::uint8_t id = 0;
    std::size_t at = 0;  // offset of the value in the datagram
    Bytes value;         // borrowed

    bool operator==(const Extension& other) const {
        return id == other.id && at == other.at && value.data() == other.value.data() && value.size() == other.value.size();
    }
};

// All extensions of a packet, at most kExtensionsMax. Parsing stops without an error at the reserved ID 15 (RFC 8285, 4.2) and at
// an element longer than the rest; earlier elements are kept.
std::vector<Extension> extensions_of(const Packet& packet);
// The first with that ID.
std::optional<Extension> find_extension(const Packet& packet, std::uint8_t id);

// Appends the header; the caller appends the payload. `extensions` are written by ID and value (`at` is ignored), in the one-byte
// form when all IDs are 1 to 14 and all values 1 to 16 bytes, else in the two-byte form with IDs of 1 to 255. `extension` and
// `padding` of `packet` are not written.
void write_header(ByteWriter& out, const Packet& packet, const std::vector<Extension>& extensions = {});

// Unwraps RTX (RFC 4588, 4), where the original sequence number precedes the original payload. Errc::need_more without one:
// senders probe the link with padding on the RTX SSRC, and such packets repair nothing. Borrows from the same datagram as `rtx`.
Result<Packet> unwrap_rtx(const Packet& rtx, std::uint32_t original_ssrc, std::uint8_t original_payload_type);

}  // namespace live::wire::rtp
