// Contents of handshake packets with their extensions (draft-sharabayko-srt-01, 3.2.1), versions 4 and 5.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "engine/srt/packet.hpp"

namespace live::engine::srt {

inline constexpr std::size_t kHandshakeBytes = 48;
inline constexpr std::size_t kStreamIdBytesMax = 512;
// Value of the extension field of an induction's answer, by which a caller recognises SRT.
inline constexpr std::uint16_t kInductionMagic = 0x4A17;
// SRT 1.5.0: the version that we announce.
inline constexpr std::uint32_t kOwnVersion = 0x01'05'00;

enum class HandshakeType : std::uint32_t {
    wavehand = 0,
    induction = 1,
    conclusion = 0xFFFF'FFFF,
    agreement = 0xFFFF'FFFE,
    done = 0xFFFF'FFFD,
    // 1000 and above: refused, see RejectReason
};

// Why a caller is refused. From 1000 on they are the draft's; from 1400 on an HTTP status + 1000, which libsrt shows to its user.
enum class RejectReason : std::uint32_t {
    unknown = 1000,
    system = 1001,
    peer = 1002,
    resource = 1003,
    rogue = 1004,
    backlog = 1005,
    internal = 1006,
    closing = 1007,
    version = 1008,
    bad_secret = 1010,
    unsecure = 1011,  // a passphrase is required, or none is expected
    message_api = 1012,
    congestion = 1013,
    filter = 1014,
    group = 1015,
    timeout = 1016,
    crypto = 1017,
    bad_request = 1400,
    unauthorized = 1401,
    overload = 1402,
    forbidden = 1403,
    not_found = 1404,
    bad_mode = 1405,
    unacceptable = 1406,
    conflict = 1409,
    unavailable = 1503,
};
std::string_view name_of(RejectReason reason);

// Flags of the handshake extension.
namespace flag {
inline constexpr std::uint32_t kTsbpdSend = 1;
inline constexpr std::uint32_t kTsbpdReceive = 2;
inline constexpr std::uint32_t kCrypt = 4;
inline constexpr std::uint32_t kTooLateDrop = 8;
inline constexpr std::uint32_t kPeriodicNak = 16;
inline constexpr std::uint32_t kRetransmitFlag = 32;
inline constexpr std::uint32_t kStream = 64;
inline constexpr std::uint32_t kPacketFilter = 128;
}  // namespace flag

// Contents of a handshake request or response.
struct Capabilities {
    std::uint32_t version = kOwnVersion;
    std::uint32_t flags = 0;
    std::uint16_t receiver_delay_ms = 0;
    std::uint16_t sender_delay_ms = 0;

    bool operator==(const Capabilities&) const = default;
};
inline constexpr std::size_t kCapabilitiesBytes = 12;
Result<Capabilities> parse_capabilities(Bytes contents);
std::array<std::uint8_t, kCapabilitiesBytes> write_capabilities(const Capabilities& capabilities);

struct Handshake {
    std::uint32_t version = 5;
    std::uint16_t encryption = 0;       // key bytes / 8: 2, 3 or 4; 0 for none
    std::uint16_t extension_field = 0;  // computed by write_handshake if there are extensions
    std::uint32_t initial_sequence = 0;
    std::uint32_t mtu = 1'500;
    std::uint32_t flow_window = 8'192;
    std::uint32_t type = 0;  // HandshakeType or RejectReason
    SocketId socket_id{};
    std::uint32_t cookie = 0;
    std::array<std::uint32_t, 4> peer_ip{};

    // Extensions; of each one, the last in the message. Those not named here are skipped.
    std::optional<Capabilities> request;
    std::optional<Capabilities> response;
    std::vector<std::uint8_t> key_request;
    std::vector<std::uint8_t> key_response;
    std::string stream_id;
    std::string congestion;
    bool has_filter = false;  // read only
    bool has_group = false;   // read only

    bool is(HandshakeType wanted) const { return type == static_cast<std::uint32_t>(wanted); }
    bool operator==(const Handshake&) const = default;
};
// Errc::malformed if an extension is longer than the message or than it may be.
Result<Handshake> parse_handshake(Bytes contents);
std::vector<std::uint8_t> write_handshake(const Handshake& handshake);
// A whole datagram.
std::vector<std::uint8_t> handshake_datagram(const Handshake& handshake, SocketId to, std::uint32_t timestamp);

// Returns the address in the form that SRT uses: IPv4 in the first word, the others zero; in little-endian byte order.
std::array<std::uint32_t, 4> peer_ip_of(const TransportAddress& address);

}  // namespace live::engine::srt
