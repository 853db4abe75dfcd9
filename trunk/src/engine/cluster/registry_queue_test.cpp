#include "engine/cluster/registry_queue.hpp"

#include <gtest/gtest.h>

namespace live::engine::cluster {
namespace {

using std::chrono::milliseconds;

const TimePoint kNow = TimePoint() + std::chrono::hours(1);

TEST(RegistryQueue, ReturnsCommandsInOrder) {
    ClusterCounts counts;
    RegistryQueue queue(counts, 1);
    queue.connect();
    const std::uint64_t first = queue.send(ListNodes{}, kNow);
    const std::uint64_t second = queue.send(StreamLookup{"/live/a"}, kNow);
    EXPECT_EQ(queue.poll_command()->id, first);
    EXPECT_EQ(queue.poll_command()->id, second);
    EXPECT_FALSE(queue.poll_command());
    EXPECT_EQ(counts.commands, 2U);
}

TEST(RegistryQueue, MatchesAnswersByCommandId) {
    ClusterCounts counts;
    RegistryQueue queue(counts, 1);
    queue.connect();
    const std::uint64_t id = queue.send(StreamLookup{"/live/a"}, kNow);
    EXPECT_FALSE(queue.take_answered(id + 100, kNow));
    const auto answered = queue.take_answered(id, kNow + milliseconds(30));
    ASSERT_TRUE(answered);
    EXPECT_EQ(std::get<StreamLookup>(answered->command.what).stream, "/live/a");
    EXPECT_EQ(queue.latency(), milliseconds(30));
    EXPECT_FALSE(queue.take_answered(id, kNow)) << "the second answer to one command";
}

TEST(RegistryQueue, CountsAsAwayAfterConsecutiveTimeouts) {
    ClusterCounts counts;
    RegistryQueue queue(counts, 1);
    EXPECT_FALSE(queue.is_up());
    queue.connect();
    std::uint64_t id = 0;
    for (int i = 0; i < RegistryQueue::kTimeoutsMax; ++i) {
        EXPECT_TRUE(queue.is_up());
        id = queue.send(ListNodes{}, kNow);
        const auto timer = queue.take_due_timer(kNow + RegistryQueue::kWaitMax);
        ASSERT_TRUE(timer);
        EXPECT_TRUE(queue.expire(*timer));
        EXPECT_FALSE(queue.expire(*timer)) << "once for each command";
    }
    EXPECT_FALSE(queue.is_up());
    EXPECT_FALSE(queue.may_send());
    EXPECT_EQ(counts.timeouts, static_cast<std::uint64_t>(RegistryQueue::kTimeoutsMax));
    EXPECT_TRUE(queue.take_answered(id, kNow)->has_returned);
    EXPECT_TRUE(queue.is_up());
}

TEST(RegistryQueue, AnsweredCommandsDoNotExpire) {
    ClusterCounts counts;
    RegistryQueue queue(counts, 1);
    queue.connect();
    queue.take_answered(queue.send(ListNodes{}, kNow), kNow);
    EXPECT_FALSE(queue.expire(queue.take_due_timer(kNow + RegistryQueue::kWaitMax).value()));
}

TEST(RegistryQueue, SendsNothingAtTheLimit) {
    ClusterCounts counts;
    RegistryQueue queue(counts, 1);
    queue.connect();
    for (std::size_t i = 0; i < RegistryQueue::kInFlightMax; ++i) {
        EXPECT_TRUE(queue.may_send());
        queue.send(ListNodes{}, kNow);
    }
    EXPECT_FALSE(queue.may_send());
    EXPECT_EQ(queue.disconnect().size(), RegistryQueue::kInFlightMax);
    EXPECT_FALSE(queue.has_commands());
}

TEST(RegistryQueue, FiresTimersByTimeThenByNumber) {
    ClusterCounts counts;
    RegistryQueue queue(counts, 1);
    const auto later = queue.start_timer(kNow + milliseconds(2), ClusterTimer::Kind::list);
    const auto first = queue.start_timer(kNow + milliseconds(1), ClusterTimer::Kind::announce, "/live/a");
    const auto second = queue.start_timer(kNow + milliseconds(1), ClusterTimer::Kind::announce, "/live/b");
    EXPECT_EQ(queue.next_timeout(), kNow + milliseconds(1));
    EXPECT_FALSE(queue.take_due_timer(kNow));
    EXPECT_EQ(queue.take_due_timer(kNow + milliseconds(2))->number, first);
    EXPECT_EQ(queue.take_due_timer(kNow + milliseconds(2))->number, second);
    EXPECT_EQ(queue.take_due_timer(kNow + milliseconds(2))->number, later);
    EXPECT_FALSE(queue.next_timeout());
}

TEST(NoticeQueue, DropsMovedNoticesAtTheLimit) {
    NoticeQueue notices;
    for (std::size_t i = 0; i < NoticeQueue::kNoticesMax + 10; ++i)
        notices.push(Moved{"/live/a"});
    notices.push(Kicked{"/live/a"});
    std::size_t count = 0;
    std::optional<Notice> last;
    while (auto notice = notices.poll()) {
        ++count;
        last = std::move(notice);
    }
    EXPECT_EQ(count, NoticeQueue::kNoticesMax + 1);
    EXPECT_TRUE(std::holds_alternative<Kicked>(*last));
}

}  // namespace
}  // namespace live::engine::cluster
