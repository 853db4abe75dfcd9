// Doctor: can a browser reach this server? Makes a session with itself at every address that an answer would name, with real
// connectivity checks and a real handshake, and describes the result in words. It tests only this machine's own addresses: it
// cannot see a firewall or router between it and the browser, and its text names this limit.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "io/fibers/deadline.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::session::rtc {

class Doctor {
public:
    static constexpr std::chrono::seconds kProbeLimit{2};
    // Concurrent examinations: each opens sockets and sessions.
    static constexpr int kExaminationsMax = 2;

    struct Probe {
        wire::sdp::Candidate candidate;
        bool is_reached = false;
        std::chrono::microseconds took{0};  // until both ends had keys
        std::string finding;
    };
    struct Report {
        std::vector<Probe> probes;
        std::vector<std::string> advice;
        bool is_well() const;
    };

    // Everything referred to outlives this.
    Doctor(Context& context, SessionOpener& opener) : context_(context), opener_(opener) {}

    // For a browser that reaches the API under `api_host`. Errc::limit when too many examinations are running.
    Result<Report> examine(const std::string& api_host, io::Deadline deadline);

private:
    Probe probe(const wire::sdp::Candidate& candidate, io::Deadline deadline);
    void advise(const RtcServerOptions& options, const std::string& api_host, Report& report) const;

    Context& context_;
    SessionOpener& opener_;
    int examinations_ = 0;
};

}  // namespace live::session::rtc
