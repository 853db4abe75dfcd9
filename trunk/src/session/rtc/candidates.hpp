// Chooses the candidate addresses of an answer: those at which a browser may reach this server. Dry: names are resolved and
// interfaces listed beforehand. The order is the order of preference: each address gets a lower priority than the one before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/host_and_port.hpp"
#include "base/result.hpp"
#include "session/rtc/options.hpp"
#include "wire/sdp/answer.hpp"

namespace live::session::rtc {

inline constexpr std::size_t kCandidatesMax = 32;  // per answer, over both transports

// "localhost", names below it (RFC 6761, 6.3), 127.0.0.0/8 and ::1.
bool is_loopback_host(std::string_view host);

struct CandidateInput {
    const RtcServerOptions& options;
    std::optional<HostAndPort> asked;        // eip= or candidate= of the request
    std::string api_host;                    // of the request's Host field, without port; empty when it is unusable
    std::vector<std::string> api_addresses;  // addresses it was resolved to, when it is a name
    // This machine's addresses in order of preference, without loopback and link-local ones.
    std::vector<std::string> device_addresses;
    // The addresses the ports are bound to. Empty when a port is bound to all: then device_addresses apply.
    std::vector<std::string> bound_addresses;
    std::uint16_t udp_port = 0;  // 0: none
    std::uint16_t tcp_port = 0;
};

// Whether a configured candidate stands for the addresses of this machine.
bool is_wildcard_candidate(std::string_view candidate);

// None when there is no port for the protocols enabled in the settings.
std::vector<wire::sdp::Candidate> choose_candidates(const CandidateInput& input);

}  // namespace live::session::rtc
