// SelfTests: whether clients can reach the ports of a protocol, as far as this machine can test it. A protocol connects to itself
// at each address that its clients could use. A firewall or router between this machine and a client is not tested.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"

namespace live::session {

struct SelfTestReport {
    struct Probe {
        std::string address;
        std::uint16_t port = 0;
        std::string_view transport = "udp";
        bool is_reached = false;
        std::chrono::microseconds took{0};
        std::string finding;  // a sentence
    };

    bool is_enabled = false;  // the protocol has ports
    bool is_well = false;
    std::string_view probes_name = "addresses";  // the probes in JSON
    std::vector<Probe> probes{};
    std::vector<std::string> advice{};
};

// The self-tests of one protocol; a few run at the same time.
class SelfTests {
public:
    static constexpr int kConcurrentMax = 2;

    // Probes each of the places that find() returns, in turn; both may suspend. Well means that each one is reached. Errc::limit
    // when too many tests are running.
    template <class Find, class Probe>
    Result<SelfTestReport> run(Find find, Probe probe) {
        if (running_ >= kConcurrentMax)
            return Error(Errc::limit, "other self-tests are running; try again in a few seconds");
        struct Running {
            explicit Running(int& all) : count(all) { ++count; }
            ~Running() { --count; }
            int& count;
        } running(running_);
        SelfTestReport report;
        for (const auto& place : find())
            report.probes.push_back(probe(place));
        report.is_enabled = !report.probes.empty();
        report.is_well = report.is_enabled && std::ranges::all_of(report.probes, &SelfTestReport::Probe::is_reached);
        return report;
    }

private:
    int running_ = 0;
};

// Where clients reach a port that is bound to this endpoint: there, or, for a port of all addresses, at each address of an
// interface of the same IP version.
std::vector<Endpoint> reachable_endpoints(const Endpoint& bound);

}  // namespace live::session
