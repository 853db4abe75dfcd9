// The Transport header (RFC 2326, 12.39), both directions: the ways in which a client can take or send the media of one track, in
// its order of preference, and the one that the server has chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::wire::rtsp {

inline constexpr std::size_t kTransportsMax = 8;

// Channels of a connection, or ports: the first for RTP, the second for RTCP.
struct NumberPair {
    std::uint16_t rtp = 0;
    std::uint16_t rtcp = 0;

    bool operator==(const NumberPair&) const = default;
};

struct Transport {
    enum class Lower : std::uint8_t { udp, tcp };
    enum class Mode : std::uint8_t { play, record };

    Lower lower = Lower::udp;
    bool is_multicast = false;
    bool is_secure = false;  // RTP/SAVP
    std::optional<NumberPair> interleaved;
    std::optional<NumberPair> client_port;
    std::optional<NumberPair> server_port;
    std::optional<std::uint32_t> ssrc;
    std::optional<Mode> mode;
    std::string source;
    std::string destination;

    bool operator==(const Transport&) const = default;
};

// The transports of RTP; others are left out, as are unknown parameters and malformed numbers. Errc::limit above kTransportsMax.
Result<std::vector<Transport>> parse_transports(std::string_view header);

std::string write(const Transport& transport);

}  // namespace live::wire::rtsp
