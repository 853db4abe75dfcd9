#include "engine/cluster/stream_finder.hpp"

#include <gtest/gtest.h>

namespace live::engine::cluster {
namespace {

using std::chrono::milliseconds;

class StreamFinderTest : public ::testing::Test {
protected:
    StreamFinderTest() { queue_.connect(); }

    void find(std::uint64_t ticket) { finder_.find("/live/a", ticket, now_); }
    // Returns the location that the ticket was answered with; nullopt if it was not answered.
    std::optional<StreamLocation> answer(std::uint64_t ticket) {
        std::optional<StreamLocation> found;
        while (auto notice = notices_.poll())
            if (auto* decided = std::get_if<FindDecided>(&*notice); decided != nullptr && decided->ticket == ticket)
                found = decided->where;
        return found;
    }
    std::size_t commands() {
        std::size_t count = 0;
        while (queue_.poll_command())
            ++count;
        return count;
    }
    static There on_node_b() { return There{OwnRecord{"b", 7, 3, 0, {}}, NodeRecord{}}; }

    TimePoint now_ = TimePoint() + std::chrono::hours(1);
    ClusterCounts counts_;
    RegistryQueue queue_{counts_, 1};
    NoticeQueue notices_;
    StreamFinder finder_{queue_, notices_};
};

TEST_F(StreamFinderTest, RepeatedRequestsShareOneCommand) {
    find(1);
    find(2);
    EXPECT_EQ(commands(), 1U);
    EXPECT_FALSE(answer(1));
    finder_.handle_location("/live/a", on_node_b(), now_);
    std::size_t answered = 0;
    while (notices_.poll())
        ++answered;
    EXPECT_EQ(answered, 2U);
}

TEST_F(StreamFinderTest, CachesOwnersLongerThanTheirAbsence) {
    finder_.handle_location("/live/a", on_node_b(), now_);
    now_ += StreamFinder::kNowhereAge;
    find(1);
    EXPECT_TRUE(std::holds_alternative<There>(answer(1).value()));
    finder_.handle_location("/live/a", Nowhere{}, now_);
    now_ += StreamFinder::kNowhereAge;
    find(2);
    EXPECT_FALSE(answer(2));
    EXPECT_EQ(commands(), 1U);
}

TEST_F(StreamFinderTest, ForgottenAnswersAreLookedUpAgain) {
    finder_.handle_location("/live/a", on_node_b(), now_);
    finder_.forget("/live/a");
    find(1);
    EXPECT_EQ(commands(), 1U);
    finder_.handle_location("/live/a", on_node_b(), now_);
    finder_.forget_all();
    find(2);
    EXPECT_EQ(commands(), 1U);
}

TEST_F(StreamFinderTest, AnswersFromTheCacheWhileTheRegistryIsAway) {
    finder_.handle_location("/live/a", on_node_b(), now_);
    queue_.disconnect();
    now_ += StreamFinder::kOldAge - milliseconds(1);
    find(1);
    EXPECT_TRUE(std::holds_alternative<There>(answer(1).value()));
    now_ += milliseconds(1);
    find(2);
    EXPECT_TRUE(std::holds_alternative<Unknown>(answer(2).value()));
    EXPECT_EQ(commands(), 0U);
}

TEST_F(StreamFinderTest, DoesNotRepeatALateCommand) {
    find(1);
    EXPECT_EQ(commands(), 1U);
    finder_.note_late("/live/a");
    finder_.handle_failure("/live/a", now_);
    EXPECT_TRUE(std::holds_alternative<Unknown>(answer(1).value()));
    find(2);
    EXPECT_TRUE(answer(2));
    EXPECT_EQ(commands(), 0U);
    finder_.note_answered("/live/a");
    find(3);
    EXPECT_EQ(commands(), 1U);
}

TEST_F(StreamFinderTest, BoundsWaiters) {
    for (std::uint64_t ticket = 0; ticket < StreamFinder::kWaitersMax; ++ticket)
        find(ticket);
    EXPECT_FALSE(notices_.poll());
    find(StreamFinder::kWaitersMax);
    EXPECT_TRUE(answer(StreamFinder::kWaitersMax));
}

TEST_F(StreamFinderTest, CountsEpochs) {
    EXPECT_EQ(finder_.next_epoch("/live/a"), 1U);
    finder_.note_epoch("/live/a", 41);
    EXPECT_EQ(finder_.next_epoch("/live/a"), 42U);
    finder_.note_epoch("/live/a", kNumberMax);
    EXPECT_EQ(finder_.next_epoch("/live/a"), kNumberMax);
}

}  // namespace
}  // namespace live::engine::cluster
