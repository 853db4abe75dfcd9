// SelfTestReport: whether clients can reach the ports of a protocol, as far as this machine can test it. A protocol connects to
// itself at each address that its clients could use. A firewall or router between this machine and a client is not tested.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace live::session
