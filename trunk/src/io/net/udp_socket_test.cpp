#include "io/net/udp_socket.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

constexpr std::size_t kBuffer = 1 << 20;

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
std::string text_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

class UdpSocketTest : public testing::TestWithParam<const char*> {
protected:
    UdpSocketTest() {
        auto first = UdpSocket::bind({GetParam(), 0}, kBuffer);
        auto second = UdpSocket::bind({GetParam(), 0}, kBuffer);
        if (first.ok() && second.ok()) {
            a_ = *std::move(first);
            b_ = *std::move(second);
        }
    }
    void SetUp() override {
        if (!a_)
            GTEST_SKIP() << "no " << GetParam() << " here";
    }
    static TransportAddress address_of(const UdpSocket& socket) {
        return {MUST(parse_ip(socket.endpoint().ip)), socket.endpoint().port};
    }
    // `count` datagrams received by `socket`, in order.
    static std::vector<std::string> take(UdpSocket& socket, std::size_t count) {
        std::vector<std::string> texts;
        while (texts.size() < count) {
            const auto came = MUST(socket.receive(Deadline::after(kSoon)));
            for (const Datagram& datagram : came)
                texts.push_back(text_of(datagram.bytes));
        }
        return texts;
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::unique_ptr<UdpSocket> a_;
    std::unique_ptr<UdpSocket> b_;
};

INSTANTIATE_TEST_SUITE_P(Families, UdpSocketTest, testing::Values("127.0.0.1", "::1"),
                         [](const auto& family) { return std::string_view(family.param) == "::1" ? "Ipv6" : "Ipv4"; });

TEST_P(UdpSocketTest, ReportsSourceAndDestinationOfADatagram) {
    const GsoBatch gso{bytes_of("hello"), 0, address_of(*b_), {}};
    EXPECT_EQ(a_->send({&gso, 1}), 1U);
    const auto got = MUST(b_->receive(Deadline::after(kSoon)));
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(text_of(got[0].bytes), "hello");
    EXPECT_EQ(got[0].from, address_of(*a_));
    EXPECT_EQ(got[0].to, address_of(*b_).ip);
    EXPECT_EQ(a_->counters().sent, 1U);
    EXPECT_EQ(b_->counters().received, 1U);
}

TEST_P(UdpSocketTest, TakesWhatHasArrivedWithoutWaiting) {
    EXPECT_TRUE(MUST(b_->take_arrived()).empty());
    const GsoBatch gso{bytes_of("hello"), 0, address_of(*b_), {}};
    EXPECT_EQ(a_->send({&gso, 1}), 1U);
    EXPECT_EQ(a_->send({&gso, 1}), 1U);
    const auto got = MUST(b_->take_arrived());
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(text_of(got[1].bytes), "hello");
    EXPECT_EQ(got[1].arrived, TimePoint());
    b_->close();
    EXPECT_TRUE(MUST(b_->take_arrived()).empty());
}

TEST_P(UdpSocketTest, ReportsWhenADatagramArrived) {
    MUST(b_->stamp_arrivals());
    const GsoBatch gso{bytes_of("hello"), 0, address_of(*b_), {}};
    // A busy machine may receive the datagram later, and may stop this process between the reads of both clocks.
    bool is_exact = false;
    for (const Deadline limit = Deadline::after(kSoon); !is_exact && !limit.expired();) {
        const TimePoint before = now();
        EXPECT_EQ(a_->send({&gso, 1}), 1U);
        const TimePoint after = now();
        EXPECT_TRUE(sleep(Deadline::after(30ms)).ok());
        const auto got = MUST(b_->receive(Deadline::after(kSoon)));
        ASSERT_EQ(got.size(), 1U);
        EXPECT_EQ(got[0].to, address_of(*b_).ip);
        EXPECT_LE(got[0].arrived, now());
        is_exact = got[0].arrived >= before - 1ms && got[0].arrived <= after + 1ms;
    }
    EXPECT_TRUE(is_exact);
}

TEST_P(UdpSocketTest, SocketsMayShareAnInbox) {
    a_->share_inbox(b_->inbox());
    for (int round = 0; round < 3; ++round)
        for (const auto& [from, to] : {std::pair(a_.get(), b_.get()), std::pair(b_.get(), a_.get())}) {
            const std::string text = "to " + to->endpoint().text();
            const GsoBatch gso{bytes_of(text), 0, address_of(*to), {}};
            for (int i = 0; i <= round; ++i)
                EXPECT_EQ(from->send({&gso, 1}), 1U);
            EXPECT_EQ(take(*to, static_cast<std::size_t>(round) + 1),
                      std::vector<std::string>(static_cast<std::size_t>(round) + 1, text));
        }
}

TEST_P(UdpSocketTest, ASocketOfAllAddressesReportsTheOneThatWasReached) {
    const bool is_ipv6 = b_->endpoint().is_ipv6();
    const auto any = MUST(UdpSocket::bind({is_ipv6 ? "::" : "0.0.0.0", 0}, kBuffer));
    const TransportAddress to{address_of(*b_).ip, any->endpoint().port};
    const GsoBatch gso{bytes_of("hello"), 0, to, {}};
    EXPECT_EQ(a_->send({&gso, 1}), 1U);
    const auto got = MUST(any->receive(Deadline::after(kSoon)));
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].to, to.ip);
    EXPECT_EQ(got[0].from, address_of(*a_));
}

TEST_P(UdpSocketTest, ReceivesGatheredDatagramsTogether) {
    const GsoBatch gso{bytes_of("hello"), 0, address_of(*b_), {}};
    const auto said = [&] { return a_->send({&gso, 1}); };
    EXPECT_EQ(said(), 1U);
    EXPECT_EQ(take(*b_, 1).size(), 1U) << "it is known to the loop";
    Scope scope("senders");
    MUST(scope.start("sender", [&](Deadline) {
        EXPECT_EQ(said(), 1U);
        EXPECT_TRUE(yield(Deadline::never()).ok());
        EXPECT_EQ(said(), 1U);
    }));
    EXPECT_TRUE(b_->gather_until(Deadline::after(std::chrono::milliseconds(20))).ok());
    EXPECT_EQ(MUST(b_->receive(Deadline::after(kSoon))).size(), 2U);
    MUST(scope.start("sender", [&](Deadline) { EXPECT_EQ(said(), 1U); }));
    EXPECT_EQ(take(*b_, 1).size(), 1U);
    EXPECT_TRUE(scope.stop(Deadline::after(kSoon)).ok());
}

TEST_P(UdpSocketTest, MoreThanABatchKeepsItsOrder) {
    std::vector<std::string> texts;
    std::vector<GsoBatch> batches;
    for (std::size_t i = 0; i < UdpSocket::kBatch + 5; ++i)
        texts.push_back(std::to_string(i));
    for (const std::string& text : texts)
        batches.push_back({bytes_of(text), 0, address_of(*b_), {}});
    EXPECT_EQ(a_->send(batches), batches.size());
    EXPECT_EQ(a_->counters().send_calls, 2U);
    EXPECT_EQ(take(*b_, texts.size()), texts);
}

TEST_P(UdpSocketTest, AGsoBatchArrivesAsItsDatagrams) {
    const GsoBatch gso{bytes_of("aaaabbbbcc"), 4, address_of(*b_), {}};
    EXPECT_EQ(a_->send({&gso, 1}), 1U);
    EXPECT_EQ(take(*b_, 3), (std::vector<std::string>{"aaaa", "bbbb", "cc"}));
    EXPECT_EQ(a_->counters().sent, 3U);
}

// With checksums disabled the kernel does not segment (udp(7)), as on an interface without support.
TEST_P(UdpSocketTest, GsoBatchesAreCutHereWhereTheKernelDoesNot) {
    const int on = 1;
    ASSERT_EQ(::setsockopt(a_->native_handle(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
    ASSERT_EQ(::setsockopt(a_->native_handle(), IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof on), 0);
    ASSERT_EQ(::setsockopt(b_->native_handle(), IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof on), 0);
    const TransportAddress to = address_of(*b_);
    const GsoBatch batches[] = {{bytes_of("one"), 0, to, {}}, {bytes_of("aaaabbbbcc"), 4, to, {}}, {bytes_of("two"), 0, to, {}}};
    EXPECT_EQ(a_->send(batches), 3U);
    EXPECT_FALSE(a_->cuts_in_kernel());
    EXPECT_EQ(take(*b_, 5), (std::vector<std::string>{"one", "aaaa", "bbbb", "cc", "two"}));
    EXPECT_EQ(a_->counters().sent, 5U);
    EXPECT_EQ(a_->counters().sent_failed, 0U);
}

TEST_P(UdpSocketTest, CountsUnsentDatagramsAndSendsTheRest) {
    TransportAddress nowhere = address_of(*b_);
    nowhere.port = 0;  // EINVAL
    const GsoBatch batches[] = {
        {bytes_of("one"), 0, address_of(*b_), {}}, {bytes_of("lost"), 0, nowhere, {}}, {bytes_of("two"), 0, address_of(*b_), {}}};
    EXPECT_EQ(a_->send(batches), 3U);
    EXPECT_EQ(take(*b_, 2), (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(a_->counters().sent_failed, 1U);
}

TEST_P(UdpSocketTest, ATooLongDatagramIsDroppedAndCounted) {
    const std::string longest(UdpSocket::kDatagramBytesMax, 'x');
    const std::string too_long = longest + "x";
    const GsoBatch batches[] = {{bytes_of(too_long), 0, address_of(*b_), {}}, {bytes_of(longest), 0, address_of(*b_), {}}};
    EXPECT_EQ(a_->send(batches), 2U);
    EXPECT_EQ(take(*b_, 1), std::vector<std::string>{longest});
    EXPECT_EQ(b_->counters().received_too_long, 1U);
}

TEST_P(UdpSocketTest, ReceiveTimesOutAndIsCancelledAndClosed) {
    EXPECT_EQ(a_->receive(Deadline::after(1ms)).code(), Errc::timed_out);
    Errc end = Errc::system;
    const auto receive = [&](Deadline) { end = a_->receive(Deadline::never()).code(); };
    Scope first("first");
    MUST(first.start("receive", receive));
    MUST(yield(Deadline::never()));
    MUST(first.stop(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::cancelled);
    Scope second("second");
    MUST(second.start("receive", receive));
    MUST(yield(Deadline::never()));
    a_->close();
    MUST(second.join(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::closed);
    EXPECT_EQ(a_->receive(Deadline::never()).code(), Errc::closed);
}

TEST_P(UdpSocketTest, ATakenPortIsAConflict) { EXPECT_EQ(UdpSocket::bind(a_->endpoint(), kBuffer).code(), Errc::conflict); }

// A machine with two addresses replies from the one that was addressed.
TEST(UdpSocket, SendsResponseFromRequestedAddress) {
    const auto loop = MUST(Loop::create());
    const auto server = MUST(UdpSocket::bind({"0.0.0.0", 0}, kBuffer));
    const auto client = MUST(UdpSocket::bind({"127.0.0.1", 0}, kBuffer));
    const IpAddress other = MUST(parse_ip("127.0.0.2"));
    const GsoBatch question{bytes_of("?"), 0, {other, server->endpoint().port}, {}};
    EXPECT_EQ(client->send({&question, 1}), 1U);
    const auto asked = MUST(server->receive(Deadline::after(kSoon)));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].to, other);
    const GsoBatch answer{bytes_of("!"), 0, asked[0].from, asked[0].to};
    EXPECT_EQ(server->send({&answer, 1}), 1U);
    const auto answered = MUST(client->receive(Deadline::after(kSoon)));
    ASSERT_EQ(answered.size(), 1U);
    EXPECT_EQ(answered[0].from, question.to);
}

TEST(UdpSocket, RaisesAndReportsBufferSizes) {
    const auto loop = MUST(Loop::create());
    const auto small = MUST(UdpSocket::bind({"127.0.0.1", 0}, 4096));
    const auto large = MUST(UdpSocket::bind({"127.0.0.1", 0}, 100'000));
    EXPECT_GT(large->buffers().receive, small->buffers().receive);
    EXPECT_GT(large->buffers().send, small->buffers().send);
}

}  // namespace
}  // namespace live::io
