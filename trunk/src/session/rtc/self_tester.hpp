// SelfTester: whether a browser can reach this server. It opens a session with this server at every address that an answer would
// name, with real connectivity checks and a real handshake.
#pragma once

#include <chrono>
#include <string>

#include "io/fibers/deadline.hpp"
#include "session/common/self_tests.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::session::rtc {

class SelfTester {
public:
    static constexpr std::chrono::seconds kProbeLimit{2};
    // Each test opens sockets and sessions.

    // Both must outlive this.
    SelfTester(Context& context, SessionOpener& opener) : context_(context), opener_(opener) {}

    // For a browser that reaches the API under `api_host`. Errc::limit when too many tests are running.
    Result<SelfTestReport> run(const std::string& api_host, io::Deadline deadline);

private:
    SelfTestReport::Probe probe(const wire::sdp::Candidate& candidate, io::Deadline deadline);
    void advise(const RtcServerOptions& options, const std::string& api_host, SelfTestReport& report) const;

    Context& context_;
    SessionOpener& opener_;
    SelfTests tests_;
};

}  // namespace live::session::rtc
