// How late a connection may handle datagrams; both ends over a simulated link.
#include <gtest/gtest.h>

#include "engine/srt/link_fixture.hpp"

namespace live::engine::srt {
namespace {

Duration slack_of(const Pair& pair) { return pair.ends[1].connection->slack(pair.now); }

TEST(SrtSlack, IsAPartOfTheAgreedLatency) {
    Pair pair(LinkOptions{});
    ASSERT_TRUE(pair.connect({}, {.receive_latency = 240ms}));
    pair.stream(0, 5ms, 100ms);
    EXPECT_EQ(slack_of(pair), 80ms);
}

TEST(SrtSlack, ThereIsNoneUntilTenSecondsAfterALoss) {
    Pair pair(LinkOptions{});
    ASSERT_TRUE(pair.connect({}, {}));
    pair.stream(0, 5ms, 100ms);
    EXPECT_EQ(slack_of(pair), 40ms);
    pair.to_listener.set_loss(100);
    pair.stream(0, 5ms, 20ms);
    pair.to_listener.set_loss(0);
    pair.stream(0, 5ms, 500ms);
    EXPECT_EQ(slack_of(pair), Duration());
    pair.stream(0, 5ms, 9s);
    EXPECT_EQ(slack_of(pair), Duration());
    pair.stream(0, 5ms, 1s);
    EXPECT_EQ(slack_of(pair), 40ms);
    EXPECT_EQ(pair.ends[1].skipped, 0U);
}

TEST(SrtSlack, ThereIsNoneWithoutDeliveryTimesAndAtTheEnd) {
    Pair pair(LinkOptions{});
    ASSERT_TRUE(pair.connect({}, {.tsbpd = false}));
    EXPECT_EQ(slack_of(pair), Duration());
    Pair other(LinkOptions{});
    ASSERT_TRUE(other.connect({}, {}));
    EXPECT_EQ(slack_of(other), 40ms);
    other.ends[1].connection->close();
    EXPECT_EQ(slack_of(other), Duration());
}

// Datagrams that are handled on ticks of the slack, with the times of their arrival, as Port does: what is delivered is the same.
TEST(SrtSlack, NothingIsLostWhenDatagramsWaitForIt) {
    for (const unsigned loss : {0U, 3U}) {
        SimulatedLink link({.delay = 10ms, .jitter = 4ms, .loss_percent = loss, .seed = 7});
        Pair pair({.delay = 10ms});
        ASSERT_TRUE(pair.connect({}, {}));
        Connection& sender = *pair.ends[0].connection;
        Connection& receiver = *pair.ends[1].connection;
        std::vector<std::uint8_t> buffer(kDatagramBytesMax);
        std::vector<std::pair<TimePoint, std::vector<std::uint8_t>>> waiting;
        std::uint64_t sent = 0;
        std::uint64_t delivered = 0;
        std::uint64_t skipped = 0;
        TimePoint read_at = pair.now;
        for (TimePoint now = pair.now; now < pair.now + 10s; now += 1ms) {
            if (now < pair.now + 9s && sender.send(now, numbered_payload(sent)) == Connection::Sent::queued)
                ++sent;
            sender.handle_timeout(now);
            while (const std::size_t size = sender.write_next(now, buffer))
                link.send(now, Bytes(buffer).first(size));
            while (auto datagram = link.arrived(now))
                waiting.emplace_back(now, *std::move(datagram));
            if (now < read_at)
                continue;
            for (const auto& [arrived, datagram] : waiting)
                receiver.handle_datagram(arrived, datagram);
            waiting.clear();
            receiver.handle_timeout(now);
            while (const auto payload = receiver.next_payload(now)) {
                EXPECT_EQ(number_of(payload->bytes), delivered + skipped + payload->skipped);
                skipped += payload->skipped;
                ++delivered;
            }
            while (const std::size_t size = receiver.write_next(now, buffer))
                sender.handle_datagram(now, Bytes(buffer).first(size));
            read_at = now + receiver.slack(now);
        }
        EXPECT_GT(sent, 8'000U);
        EXPECT_EQ(delivered, sent) << loss << " % lost";
        EXPECT_EQ(skipped, 0U) << loss << " % lost";
    }
}

}  // namespace
}  // namespace live::engine::srt
