#include "session/common/udp_sockets.hpp"

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"

namespace live::session {
namespace {

struct UdpSocketsTest : testing::Test {
    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    NoLog no_log;
    Log log{no_log, ""};
    UdpSockets sockets{"test", log};
};

TEST_F(UdpSocketsTest, ShareOneEndpoint) {
    MUST(sockets.listen({"127.0.0.1", 0}, 3));
    ASSERT_EQ(sockets.size(), 3U);
    EXPECT_NE(sockets.front()->endpoint().port, 0);
    for (const auto& socket : sockets)
        EXPECT_EQ(socket->endpoint(), sockets.front()->endpoint());
    EXPECT_EQ(sockets.lost_on_arrival(), 0U);
    EXPECT_EQ(sockets.send_failures(), 0U);
}

TEST_F(UdpSocketsTest, FindsTheSocketOfAForwardedDatagram) {
    MUST(sockets.listen({"127.0.0.1", 0}));
    MUST(sockets.listen({"127.0.0.1", 0}));
    ForwardedDatagram forwarded;
    forwarded.port = sockets[1]->endpoint().port;
    EXPECT_EQ(sockets.find(forwarded), sockets.back().get());
    forwarded.is_ipv6 = true;
    EXPECT_EQ(sockets.find(forwarded), nullptr);
}

TEST_F(UdpSocketsTest, ReportsAnAddressInUse) {
    MUST(sockets.listen({"127.0.0.1", 0}));
    UdpSockets others("test", log);
    EXPECT_FALSE(others.listen(sockets.front()->endpoint()).ok());
    EXPECT_EQ(others.size(), 0U);
}

}  // namespace
}  // namespace live::session
