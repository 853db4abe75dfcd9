// Doctor: can an encoder reach this server by SRT? Begins a handshake with itself at every address that clients could use. It
// tests only this machine's own addresses: it cannot see a firewall or router between it and the encoder, and its text names
// this limit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/net/endpoint.hpp"
#include "io/fibers/deadline.hpp"
#include "session/srt/port/port.hpp"

namespace live::session::srt {

class Doctor {
public:
    static constexpr std::chrono::seconds kProbeLimit{2};
    static constexpr std::size_t kProbesMax = 32;
    // Concurrent examinations.
    static constexpr int kExaminationsMax = 2;

    struct Probe {
        Endpoint endpoint;
        bool is_reached = false;
        std::chrono::microseconds took{0};
        std::string finding;
    };
    struct Report {
        std::vector<Probe> probes;
        std::vector<std::string> advice;
        bool is_well() const;
    };

    // The port outlives this.
    explicit Doctor(const Port& port) : port_(port) {}

    // Errc::limit when too many examinations are running.
    Result<Report> examine(io::Deadline deadline);

private:
    std::vector<Endpoint> endpoints() const;
    Probe probe(const Endpoint& endpoint, io::Deadline deadline) const;

    const Port& port_;
    int examinations_ = 0;
};

}  // namespace live::session::srt
