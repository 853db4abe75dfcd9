#include "session/rtc/candidates.hpp"

#include <gtest/gtest.h>

namespace live::session::rtc {
namespace {

constexpr std::uint16_t kPort = 8000;

std::string text_of(const std::vector<wire::sdp::Candidate>& candidates) {
    std::string text;
    for (const auto& candidate : candidates)
        text +=
            (text.empty() ? "" : " ") + candidate.host + ":" + std::to_string(candidate.port) + (candidate.is_tcp ? "/tcp" : "");
    return text;
}

struct Case {
    const char* name;
    RtcServerOptions options;
    const char* asked;
    const char* api_host;
    std::vector<std::string> api_addresses;
    std::vector<std::string> device;
    std::vector<std::string> bound;
    const char* expected;
};

RtcServerOptions with(void (*change)(RtcServerOptions&)) {
    RtcServerOptions options;
    change(options);
    return options;
}

const std::vector<std::string> kDevice = {"10.0.0.5", "172.17.0.2", "2001:db8::5"};

const Case kCases[] = {
    {"by default: the host of the request, and all addresses of IPv4",
     {},
     "",
     "192.0.2.9",
     {},
     kDevice,
     {},
     "192.0.2.9:8000 10.0.0.5:8000 172.17.0.2:8000"},
    {"an address that is both stands there once", {}, "", "10.0.0.5", {}, kDevice, {}, "10.0.0.5:8000 172.17.0.2:8000"},
    {"what the request asks for comes first",
     {},
     "203.0.113.1",
     "",
     {},
     kDevice,
     {},
     "203.0.113.1:8000 10.0.0.5:8000 172.17.0.2:8000"},
    {"its port replaces ours", {}, "203.0.113.1:9000", "", {}, {}, {}, "203.0.113.1:9000"},
    {"a name is kept", {}, "media.example.com", "", {}, {}, {}, "media.example.com:8000"},
    {"IPv6 in brackets", {}, "[2001:db8::9]:9001", "", {}, {}, {}, "2001:db8::9:9001"},
    {"a name of the request is what it resolves to",
     {},
     "",
     "media.example.com",
     {"192.0.2.8", "2001:db8::8"},
     {},
     {},
     "192.0.2.8:8000 2001:db8::8:8000"},
    {"and itself when asked for",
     with([](auto& options) { options.keep_api_domain = true; }),
     "",
     "media.example.com",
     {"192.0.2.8"},
     {},
     {},
     "192.0.2.8:8000 media.example.com:8000"},
    {"unless it is not to be resolved",
     with([](auto& options) { options.resolve_api_domain = false; }),
     "",
     "media.example.com",
     {"192.0.2.8"},
     {"10.0.0.5"},
     {},
     "10.0.0.5:8000"},
    {"an IPv6 host of the request", {}, "", "2001:db8::7", {}, {"10.0.0.5"}, {}, "2001:db8::7:8000 10.0.0.5:8000"},
    {"the host of the request can be switched off",
     with([](auto& options) { options.api_as_candidates = false; }),
     "",
     "192.0.2.9",
     {},
     {"10.0.0.5"},
     {},
     "10.0.0.5:8000"},
    {"a request to localhost adds loopback, last",
     {},
     "",
     "localhost",
     {"127.0.0.1"},
     {"10.0.0.5"},
     {},
     "10.0.0.5:8000 127.0.0.1:8000"},
    {"and so does ::1", {}, "", "::1", {}, {"10.0.0.5"}, {}, "10.0.0.5:8000 ::1:8000"},
    {"a configured address stops the search",
     with([](auto& options) { options.candidates = {"198.51.100.4"}; }),
     "",
     "",
     {},
     kDevice,
     {},
     "198.51.100.4:8000"},
    {"the request's host stands in front of it",
     with([](auto& options) { options.candidates = {"198.51.100.4"}; }),
     "",
     "192.0.2.9",
     {},
     kDevice,
     {},
     "192.0.2.9:8000 198.51.100.4:8000"},
    {"several configured ones",
     with([](auto& options) { options.candidates = {"198.51.100.4", "media.example.com"}; }),
     "",
     "",
     {},
     kDevice,
     {},
     "198.51.100.4:8000 media.example.com:8000"},
    {"all zero means automatic",
     with([](auto& options) { options.candidates = {"0.0.0.0"}; }),
     "",
     "",
     {},
     {"10.0.0.5"},
     {},
     "10.0.0.5:8000"},
    {"IPv6 alone", with([](auto& options) { options.ip_family = IpFamily::ipv6; }), "", "", {}, kDevice, {}, "2001:db8::5:8000"},
    {"both families",
     with([](auto& options) { options.ip_family = IpFamily::all; }),
     "",
     "",
     {},
     kDevice,
     {},
     "10.0.0.5:8000 172.17.0.2:8000 2001:db8::5:8000"},
    {"without detection: the first of IPv4",
     with([](auto& options) { options.use_auto_detect_network_ip = false; }),
     "",
     "",
     {},
     {"2001:db8::5", "10.0.0.5"},
     {},
     "10.0.0.5:8000"},
    {"nothing of the family: the first of IPv4, else the first", {}, "", "", {}, {"2001:db8::5"}, {}, "2001:db8::5:8000"},
    {"a port bound to one address has only that", {}, "", "", {}, kDevice, {"127.0.0.1"}, "127.0.0.1:8000"},
    {"nothing at all", {}, "", "", {}, {}, {}, ""},
    {"TCP alone",
     with([](auto& options) { options.protocol = RtcTransport::tcp; }),
     "",
     "",
     {},
     {"10.0.0.5"},
     {},
     "10.0.0.5:8001/tcp"},
    {"both transports",
     with([](auto& options) { options.protocol = RtcTransport::all; }),
     "",
     "",
     {},
     {"10.0.0.5"},
     {},
     "10.0.0.5:8000 10.0.0.5:8001/tcp"},
};

TEST(Candidates, FollowTheTableOfTheSpecification) {
    for (const Case& test : kCases) {
        CandidateInput input{.options = test.options,
                             .asked = std::nullopt,
                             .api_host = test.api_host,
                             .api_addresses = test.api_addresses,
                             .device_addresses = test.device,
                             .bound_addresses = test.bound,
                             .udp_port = kPort,
                             .tcp_port = kPort + 1};
        if (*test.asked != '\0')
            input.asked = parse_host(test.asked).value();
        EXPECT_EQ(text_of(choose_candidates(input)), test.expected) << test.name;
    }
}

TEST(Candidates, WithoutAPortForItThereIsNoCandidateOfATransport) {
    RtcServerOptions options;
    options.protocol = RtcTransport::all;
    CandidateInput input{.options = options,
                         .asked = std::nullopt,
                         .api_host = {},
                         .api_addresses = {},
                         .device_addresses = {"10.0.0.5"},
                         .bound_addresses = {},
                         .udp_port = kPort,
                         .tcp_port = 0};
    EXPECT_EQ(text_of(choose_candidates(input)), "10.0.0.5:8000");
}

TEST(Candidates, AreBounded) {
    RtcServerOptions options;
    options.protocol = RtcTransport::all;
    CandidateInput input{.options = options,
                         .asked = std::nullopt,
                         .api_host = {},
                         .api_addresses = {},
                         .device_addresses = {},
                         .bound_addresses = {},
                         .udp_port = kPort,
                         .tcp_port = kPort};
    for (std::size_t i = 0; i <= kCandidatesMax; ++i)
        input.device_addresses.push_back("10.0.1." + std::to_string(i));
    EXPECT_EQ(choose_candidates(input).size(), kCandidatesMax);
}

TEST(Candidates, RecogniseLoopback) {
    for (const char* host : {"localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.3.2.1", "::1"})
        EXPECT_TRUE(is_loopback_host(host)) << host;
    for (const char* host : {"notlocalhost", "127.example.com", "10.0.0.1", "", "localhost.example.com"})
        EXPECT_FALSE(is_loopback_host(host)) << host;
}

}  // namespace
}  // namespace live::session::rtc
