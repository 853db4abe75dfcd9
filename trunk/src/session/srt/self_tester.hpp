// SelfTester: whether an encoder can reach this server by SRT. It begins a handshake with this server at every address that
// clients could use.
#pragma once

#include <chrono>
#include <vector>

#include "base/net/endpoint.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/self_tests.hpp"
#include "session/srt/port/port.hpp"

namespace live::session::srt {

class SelfTester {
public:
    static constexpr std::chrono::seconds kProbeLimit{2};
    static constexpr std::size_t kProbesMax = 32;

    // The port must outlive this.
    explicit SelfTester(const Port& port) : port_(port) {}

    // Errc::limit when too many tests are running.
    Result<SelfTestReport> run(io::Deadline deadline);

private:
    std::vector<Endpoint> endpoints() const;
    SelfTestReport::Probe probe(const Endpoint& endpoint, io::Deadline deadline) const;

    const Port& port_;
    SelfTests tests_;
};

}  // namespace live::session::srt
