#include "session/rtsp/udp_ports.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::session::rtsp {
namespace {

constexpr std::uint16_t kFirstPort = 21'970;
constexpr std::uint16_t kLastPort = 23'970;

class Listener final : public UdpReceiver {
public:
    void on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) override {
        got.push_back(std::to_string(track) + (is_rtcp ? " rtcp " : " rtp ") + std::string(as_text(datagram)));
    }
    void on_datagrams_end() override { ++batches; }

    std::vector<std::string> got;
    int batches = 0;
};

class RtspUdpPorts : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(ports_.open(kFirstPort, kLastPort).ok()); }

    // A client's port.
    std::unique_ptr<io::UdpSocket> client() const { return MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20)); }
    static void send(io::UdpSocket& from, std::uint16_t to, std::string_view text) {
        const io::GsoBatch batch{as_bytes(text), text.size(), {kLoopback, to}, {}};
        ASSERT_EQ(from.send(std::span(&batch, 1)), 1U);
    }

    static inline const IpAddress kLoopback = MUST(parse_ip("127.0.0.1"));
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    Traffic traffic_;
    Log log_;
    UdpPorts ports_{traffic_, log_};
};

TEST_F(RtspUdpPorts, TakesAnEvenPortAndTheNextOne) {
    const auto numbers = ports_.numbers();
    ASSERT_TRUE(numbers);
    EXPECT_EQ(numbers->rtp % 2, 0);
    EXPECT_EQ(numbers->rtcp, numbers->rtp + 1);
    UdpPorts second(traffic_, log_);
    ASSERT_TRUE(second.open(kFirstPort, kLastPort).ok());
    EXPECT_GT(second.numbers()->rtp, numbers->rtp) << "another process takes the next ones";
    UdpPorts none(traffic_, log_);
    EXPECT_EQ(none.open(numbers->rtp, numbers->rtcp).code(), Errc::conflict);
    EXPECT_FALSE(none.numbers());
}

TEST_F(RtspUdpPorts, DeliversDatagramsOfRegisteredAddressesOnly) {
    io::Scope fibers("udp");
    ASSERT_TRUE(ports_.start(fibers).ok());
    const auto rtp = client();
    const auto rtcp = client();
    const auto stranger = client();
    Listener listener;
    Listener other;
    const wire::rtsp::NumberPair announced{rtp->endpoint().port, rtcp->endpoint().port};
    ASSERT_TRUE(ports_.add(kLoopback, announced, listener, 1).ok());
    EXPECT_EQ(ports_.add(kLoopback, announced, other, 0).code(), Errc::conflict);
    send(*stranger, ports_.numbers()->rtp, "stranger");
    send(*rtp, ports_.numbers()->rtp, "a");
    io::wait_until([&] { return listener.got.size() == 1; });
    send(*rtcp, ports_.numbers()->rtcp, "b");
    io::wait_until([&] { return listener.got.size() == 2; });
    EXPECT_EQ(listener.got, (std::vector<std::string>{"1 rtp a", "1 rtcp b"}));
    EXPECT_GE(listener.batches, 2);
    EXPECT_EQ(traffic_.received_bytes, 2U);
    ports_.remove(listener);
    EXPECT_EQ(ports_.addresses(), 0U);
    EXPECT_TRUE(ports_.add(kLoopback, announced, other, 0).ok());
    ASSERT_TRUE(fibers.stop(io::Deadline::after(io::kSoon)).ok());
}

}  // namespace
}  // namespace live::session::rtsp
