// SelfTester: whether cameras and players can reach this server by RTSP. It requests OPTIONS from this server at every address
// that clients could use, over TLS where the port has it.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/net/endpoint.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "session/common/self_tests.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

class SelfTester {
public:
    static constexpr std::chrono::seconds kProbeLimit{2};
    static constexpr std::size_t kProbesMax = 32;

    struct Port {
        Endpoint endpoint;
        bool is_secure = false;
    };

    // `media` must outlive this.
    explicit SelfTester(const UdpPorts& media) : media_(media) {}

    void add(Port port) { ports_.push_back(std::move(port)); }
    // Errc::limit when too many tests are running.
    Result<SelfTestReport> run(io::Deadline deadline);

private:
    std::vector<Port> reachable_ports() const;
    static SelfTestReport::Probe probe(const Port& port, io::Deadline deadline);
    static Result<std::unique_ptr<io::Stream>> dial(const Port& port, io::Deadline deadline);
    static Result<void> ask(io::Stream& stream, io::Deadline deadline);

    const UdpPorts& media_;
    std::vector<Port> ports_;
    SelfTests tests_;
};

}  // namespace live::session::rtsp
