#include "session/common/protocol.hpp"

#include <gtest/gtest.h>

namespace live::session {
namespace {

TEST(Protocol, SumsTheTrafficOfAll) {
    const Traffic first{1, 20};
    const Protocols all{{.name = "a", .traffic = [&first] { return first; }}, {.name = "silent"}, {.name = "b", .traffic = [] {
                                                                                                       return Traffic{300, 4000};
                                                                                                   }}};
    EXPECT_EQ(traffic_of(all).received_bytes, 301U);
    EXPECT_EQ(traffic_of(all).sent_bytes, 4020U);
    EXPECT_EQ(traffic_of({}).sent_bytes, 0U);
}

TEST(Protocol, ADatagramReachesItsProtocolOnly) {
    std::vector<std::uint8_t> bytes{1, 2, 3};
    std::vector<std::string> received;
    const auto taker = [&received](const char* name) {
        return [&received, name](const ForwardedDatagram&, MutBytes datagram) {
            received.push_back(name + std::to_string(datagram.size()));
        };
    };
    Protocols all{{.name = "streams"},
                  {.name = "srt", .datagrams = ForwardedDatagram::Protocol::srt, .take_datagram = taker("srt")}};
    ForwardedDatagram forwarded;
    forwarded.protocol = ForwardedDatagram::Protocol::webrtc;
    take_datagram(all, forwarded, bytes);
    EXPECT_TRUE(received.empty()) << "no protocol of the list takes it";
    all.push_back({.name = "rtc", .datagrams = ForwardedDatagram::Protocol::webrtc, .take_datagram = taker("rtc")});
    take_datagram(all, forwarded, bytes);
    forwarded.protocol = ForwardedDatagram::Protocol::srt;
    take_datagram(all, forwarded, bytes);
    EXPECT_EQ(received, (std::vector<std::string>{"rtc3", "srt3"}));
}

TEST(Protocol, ABarePortIsEveryAddress) {
    EXPECT_EQ(addresses_of("udp://", {"8000", "192.0.2.1:9000", "[::1]:1"}),
              (std::vector<std::string>{"udp://0.0.0.0:8000", "udp://192.0.2.1:9000", "udp://[::1]:1"}));
}

}  // namespace
}  // namespace live::session
