#include "engine/cluster/owned_streams.hpp"

#include <gtest/gtest.h>

namespace live::engine::cluster {
namespace {

class OwnedStreamsTest : public ::testing::Test {
protected:
    OwnedStreamsTest() { queue_.connect(); }

    void publish(std::uint64_t ticket = 1) { streams_.publish("/live/a", ticket, false, 0, now_, {}); }
    // Returns the next command of this kind; nullopt if the queue has no such command.
    template <class What>
    std::optional<Command> next() {
        while (auto command = queue_.poll_command())
            if (std::holds_alternative<What>(command->what))
                return command;
        return std::nullopt;
    }
    void answer(const Command& command, const ClaimDone& done) {
        queue_.take_answered(command.id, now_);
        streams_.handle_claim(command, done, now_);
    }
    // Fires the timers until one claim is sent.
    std::optional<Command> next_claim() {
        for (int i = 0; i < 10 && queue_.next_timeout(); ++i) {
            now_ = *queue_.next_timeout();
            while (const auto timer = queue_.take_due_timer(now_))
                if (timer->kind == ClusterTimer::Kind::announce || timer->kind == ClusterTimer::Kind::confirm)
                    streams_.handle_timer(*timer, now_);
            if (auto command = next<Claim>())
                return command;
        }
        return std::nullopt;
    }
    std::optional<Verdict> verdict() {
        while (const auto notice = notices_.poll())
            if (const auto* decided = std::get_if<PublishDecided>(&*notice))
                return decided->verdict;
        return std::nullopt;
    }
    bool is_lost() {
        while (const auto notice = notices_.poll())
            if (std::holds_alternative<Lost>(*notice))
                return true;
        return false;
    }

    TimePoint now_ = TimePoint() + std::chrono::hours(1);
    NodeIdentity identity_{"", NodeRecord{.id = "a", .run = 7}};
    ClusterCounts counts_;
    NoticeQueue notices_;
    RegistryQueue queue_{counts_, 1};
    StreamFinder finder_{queue_, notices_};
    OwnedStreams streams_{{identity_, queue_, notices_, finder_, counts_}};
};

TEST_F(OwnedStreamsTest, ClaimsAndHolds) {
    publish();
    const auto claim = next<Claim>().value();
    EXPECT_TRUE(std::get<Claim>(claim.what).is_fresh);
    EXPECT_FALSE(verdict());
    answer(claim, {.is_granted = true, .epoch = 5});
    EXPECT_EQ(verdict(), Verdict::granted);
    EXPECT_EQ(streams_.find("/live/a")->epoch, 5U);
    EXPECT_EQ(streams_.unannounced(), 0U);
}

TEST_F(OwnedStreamsTest, RefusalRemovesTheStream) {
    publish();
    answer(next<Claim>().value(), {.is_granted = false, .holder = text_of(OwnRecord{"b", 8, 3, 0, {}})});
    EXPECT_EQ(verdict(), Verdict::refused);
    EXPECT_FALSE(streams_.contains("/live/a"));
}

TEST_F(OwnedStreamsTest, PublishesWithoutARegistryAndClaimsLater) {
    queue_.disconnect();
    publish();
    EXPECT_EQ(verdict(), Verdict::unregistered);
    EXPECT_EQ(streams_.unannounced(), 1U);
    queue_.connect();
    streams_.announce_all(now_);
    const auto claim = next_claim();
    ASSERT_TRUE(claim);
    EXPECT_FALSE(std::get<Claim>(claim->what).is_fresh);
}

TEST_F(OwnedStreamsTest, HigherOwnerTakesAnAnnouncedStream) {
    publish();
    answer(next<Claim>().value(), {.is_granted = true, .epoch = 1});
    streams_.confirm("/live/a", 0, now_);
    ASSERT_TRUE(streams_.announce_soon("/live/a", now_));
    answer(next_claim().value(), {.is_granted = false, .holder = text_of(OwnRecord{"b", 8, 3, 0, {}})});
    EXPECT_TRUE(is_lost());
    EXPECT_EQ(counts_.lost, 1U);
    EXPECT_FALSE(streams_.announce_soon("/live/a", now_));
}

TEST_F(OwnedStreamsTest, RemovesUnconfirmedPublishers) {
    publish();
    answer(next<Claim>().value(), {.is_granted = true, .epoch = 1});
    EXPECT_FALSE(next_claim());
    EXPECT_FALSE(streams_.contains("/live/a"));
}

TEST_F(OwnedStreamsTest, RepeatsWithdrawalsUntilTheyAreAnswered) {
    publish();
    answer(next<Claim>().value(), {.is_granted = true, .epoch = 1});
    streams_.unpublish("/live/a", now_);
    const auto withdraw = std::get<Withdraw>(next<Withdraw>().value().what);
    streams_.send_withdrawals(now_);
    EXPECT_TRUE(next<Withdraw>());
    streams_.handle_withdrawn(withdraw);
    streams_.send_withdrawals(now_);
    EXPECT_FALSE(next<Withdraw>());
}

TEST_F(OwnedStreamsTest, RenewsHeldStreams) {
    publish();
    answer(next<Claim>().value(), {.is_granted = true, .epoch = 1});
    streams_.confirm("/live/a", 0, now_);
    streams_.renew(std::chrono::seconds(1), now_ + OwnedStreams::kRenewal - std::chrono::seconds(1));
    EXPECT_FALSE(next_claim());
    now_ += OwnedStreams::kRenewal * 3 / 2;
    streams_.renew(std::chrono::seconds(1), now_);
    EXPECT_TRUE(next_claim());
}

TEST_F(OwnedStreamsTest, RejectsNamesThatTheRegistryCannotHold) {
    streams_.publish(std::string(kStreamBytesMax + 1, 'x'), 1, false, 0, now_, {});
    EXPECT_EQ(verdict(), Verdict::too_many);
}

}  // namespace
}  // namespace live::engine::cluster
