// Doctor: can a browser reach this server? Makes a session with itself at every address that an answer would name, with real
// checks and a real handshake, and says in words what happened. It leaves this machine only as far as its own addresses go: what
// stands between it and the browser (a firewall, a router) it cannot see, and says so.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "io/deadline.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::session::rtc {

class Doctor {
public:
    static constexpr std::chrono::seconds kProbeLimit{2};
    // Examinations at once: each makes sockets and sessions.
    static constexpr int kExaminationsMax = 2;

    struct Probe {
        wire::sdp::Candidate candidate;
        bool is_reached = false;
        std::chrono::microseconds took{0};  // until both had keys
        std::string finding;
    };
    struct Report {
        std::vector<Probe> probes;
        std::vector<std::string> advice;
        bool is_well() const;
    };

    // What is referred to outlives this.
    Doctor(Context& context, SessionOpener& opener) : context_(context), opener_(opener) {}

    // For a browser that reaches the API by `api_host`. Errc::limit when others are being examined.
    Result<Report> examine(const std::string& api_host, io::Deadline deadline);

private:
    Probe probe(const wire::sdp::Candidate& candidate, io::Deadline deadline);
    void advise(const RtcServerOptions& options, const std::string& api_host, Report& report) const;

    Context& context_;
    SessionOpener& opener_;
    int examinations_ = 0;
};

}  // namespace live::session::rtc
