#include "session/srt/port/output.hpp"

#include <gtest/gtest.h>

#include "base/net/ip_network.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/loop.hpp"

namespace live::session::srt {
namespace {

struct PortOutputTest : testing::Test {
    std::size_t received() {
        const auto datagrams = receiver->receive(io::Deadline::after(std::chrono::seconds(20)));
        return datagrams.ok() ? datagrams->size() : 0;
    }
    TransportAddress to() const {
        TransportAddress address;
        address.ip = MUST(parse_ip("127.0.0.1"));
        address.port = receiver->endpoint().port;
        return address;
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    std::unique_ptr<io::UdpSocket> sender = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 16));
    std::unique_ptr<io::UdpSocket> receiver = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 16));
    Path path{sender.get(), {}};
    PortFigures figures;
    PortOutput output{figures};
};

TEST_F(PortOutputTest, SendsDatagramsWithoutAConnection) {
    output.send_now(as_bytes("answer"), to(), path);
    EXPECT_EQ(received(), 1U);
    EXPECT_EQ(figures.sent, 1U);
    EXPECT_EQ(figures.sent_bytes, 6U);
    EXPECT_EQ(figures.unsent, 0U);
    output.send_now(as_bytes("answer"), to(), {});
    EXPECT_EQ(figures.sent, 1U) << "there is no socket";
}

TEST_F(PortOutputTest, GathersAnswersUntilTheFlush) {
    output.answer({}, to(), path);
    output.answer({}, to(), path);
    output.flush();
    std::size_t count = 0;
    while (count < 2) {
        const std::size_t more = received();
        ASSERT_GT(more, 0U);
        count += more;
    }
    EXPECT_EQ(figures.sent, 2U);
    EXPECT_EQ(figures.sent_bytes, 2 * PortOutput::Induction().size());
}

}  // namespace
}  // namespace live::session::srt
