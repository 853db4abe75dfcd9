// RTP packets (RFC 3550, 5.1) with their header extensions (RFC 8285), both directions, and the rewriting of a header in place: a
// packet is prepared once a source, and a player's copy differs in a few fields only. Not here: what the payload means, see
// wire/rtp_payload, and the protection around it, see engine/srtp/session.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::rtp {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kCsrcsMax = 15;
inline constexpr std::size_t kPacketBytesMax = 2'048;  // what we read from a socket; WebRTC stays below 1,500
inline constexpr std::size_t kExtensionsMax = 32;

// RFC 8285, 4.2 and 4.3; anything else is somebody's own and is carried without being looked into.
inline constexpr std::uint16_t kOneByteProfile = 0xBEDE;
inline constexpr std::uint16_t kTwoByteProfile = 0x1000;  // with any last four bits

struct Packet {
    bool marker = false;
    std::uint8_t payload_type = 0;
    std::uint16_t sequence = 0;
    std::uint32_t timestamp = 0;
    std::uint32_t ssrc = 0;
    std::uint8_t csrc_count = 0;
    std::array<std::uint32_t, kCsrcsMax> csrcs{};
    std::optional<std::uint16_t> extension_profile;
    std::size_t extension_at = 0;  // in the datagram, behind the profile and the length
    Bytes extension;               // borrowed, whole words
    Bytes payload;                 // borrowed, without padding
    std::uint8_t padding = 0;      // bytes at the end
};

// True for what may be RTP or RTCP (RFC 7983): version 2 and at least a header of RTCP.
bool looks_like_rtp(Bytes datagram);
// Of those, RTCP has a second byte of 192 to 223 (RFC 5761, 4).
bool looks_like_rtcp(Bytes datagram);

// Errc::need_more when the header is cut, Errc::malformed (a wrong version, padding longer than the payload), Errc::limit.
Result<Packet> parse_packet(Bytes datagram);

struct Extension {
    std::uint8_t id = 0;
    std::size_t at = 0;  // of the value, in the datagram
    Bytes value;         // borrowed

    bool operator==(const Extension& other) const {
        return id == other.id && at == other.at && value.data() == other.value.data() && value.size() == other.value.size();
    }
};

// All of a packet's extensions, at most kExtensionsMax. Reading ends quietly at the reserved id 15 (RFC 8285, 4.2), and where an
// element is longer than the rest: what stood before it counts.
std::vector<Extension> extensions_of(const Packet& packet);
// The first with that id.
std::optional<Extension> find_extension(const Packet& packet, std::uint8_t id);

// Appends the header; the payload follows. `extensions` by id and value (their `at` is not used), in the one-byte form when all
// ids are 1 to 14 and all values 1 to 16 bytes, else in the two-byte form with ids of 1 to 255. `extension` and `padding` of
// `packet` are not written.
void write_header(ByteWriter& out, const Packet& packet, const std::vector<Extension>& extensions = {});

// What differs from player to player.
struct Rewrite {
    std::uint8_t payload_type = 0;
    std::uint16_t sequence = 0;
    std::uint32_t timestamp = 0;
    std::uint32_t ssrc = 0;
};
// In place; `datagram` has been parsed before.
void rewrite_header(MutBytes datagram, const Rewrite& rewrite);

// RTX (RFC 4588, 4): the original sequence number stands before the original payload. Errc::need_more when there is none: senders
// probe the link with padding on that SSRC, and such a packet is nothing to repair with. Everything borrowed as in `rtx`.
Result<Packet> unwrap_rtx(const Packet& rtx, std::uint32_t original_ssrc, std::uint8_t original_payload_type);
// Appends the whole packet under the RTX stream's own SSRC, type and sequence number; the extensions are those given.
void write_rtx(ByteWriter& out, const Packet& original, const Rewrite& stream, const std::vector<Extension>& extensions = {});

}  // namespace live::wire::rtp
