#include "session/rtc/players.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "media/stream_table.hpp"

namespace live::session::rtc {
namespace {

struct FakePlayer final : LanePlayer {
    std::optional<TimePoint> serve(TimePoint now) override {
        ++served;
        if (on_serve)
            on_serve();
        return wait == Duration::zero() ? std::nullopt : std::optional(now + std::exchange(wait, Duration::zero()));
    }
    int served = 0;
    Duration wait{};  // once
    std::function<void()> on_serve;
};

struct Fixture : ::testing::Test {
    Fixture() {
        loop = io::Loop::create().value();
        port = std::make_unique<Port>(io::now(), log);
        players = std::make_unique<Players>(*port);
        EXPECT_TRUE(players->start(scope).ok());
        source = streams.find_or_create("/live/a", {}, 60'000).value();
    }
    ~Fixture() override { EXPECT_TRUE(scope.stop(io::Deadline::after(1s)).ok()); }
    void publish(LaneGroup& group, int packets = 1) {
        for (int i = 0; i < packets; ++i)
            group.lane().append({.kind = media::Kind::video, .payload = Slice::allocate(100), .arrived = io::now()});
        group.lane().flush();
    }
    void let_run(int turns = 5) {
        for (int i = 0; i < turns; ++i)
            EXPECT_TRUE(io::yield(io::Deadline::never()).ok());
    }

    Log log;
    std::unique_ptr<io::Loop> loop;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    std::unique_ptr<Port> port;
    std::unique_ptr<Players> players;
    io::Scope scope{"test"};
    Ref<media::Source> source;
};

using RtcPlayers = Fixture;

TEST_F(RtcPlayers, EveryPlayerIsServedOnceABatchHoweverManyPackets) {
    std::vector<FakePlayer> all(3);
    LaneGroup& group = players->join(source, all[0]);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_EQ(&players->join(source, all[i]), &group);
    let_run();
    publish(group, 10);
    let_run();
    publish(group);
    publish(group);
    let_run();
    for (FakePlayer& player : all) {
        EXPECT_EQ(player.served, 2);
        players->leave(player);
    }
}

TEST_F(RtcPlayers, AGroupAndItsHoldOnTheLaneLiveAsLongAsItsPlayers) {
    FakePlayer one;
    FakePlayer two;
    players->join(source, one);
    players->join(source, two);
    EXPECT_EQ(players->groups(), 1U);
    players->leave(one);
    players->leave(one);
    EXPECT_NE(source->rtp_lane(), nullptr);
    players->leave(two);
    EXPECT_EQ(players->groups(), 0U);
    EXPECT_EQ(source->rtp_lane(), nullptr);
}

TEST_F(RtcPlayers, WhoLeavesWhileServedKeepsNobodyFromBeingServed) {
    std::vector<FakePlayer> all(5);
    LaneGroup* group = nullptr;
    for (FakePlayer& player : all)
        group = &players->join(source, player);
    for (FakePlayer& player : all)
        player.on_serve = [&] { players->leave(player); };
    let_run();
    publish(*group);
    let_run();
    for (const FakePlayer& player : all)
        EXPECT_EQ(player.served, 1);
    EXPECT_EQ(players->groups(), 0U);
}

TEST_F(RtcPlayers, APlayerThatWaitsForItsLinkIsServedAgainWithoutNewPackets) {
    FakePlayer player;
    player.wait = 20ms;
    LaneGroup& group = players->join(source, player);
    publish(group);
    let_run();
    EXPECT_EQ(player.served, 1);
    ASSERT_TRUE(io::sleep(io::Deadline::after(30ms)).ok());
    EXPECT_EQ(player.served, 2);
    ASSERT_TRUE(io::sleep(io::Deadline::after(30ms)).ok());
    EXPECT_EQ(player.served, 2);
    players->leave(player);
}

TEST_F(RtcPlayers, WhoeverIsLetInIsServedAtOnce) {
    FakePlayer player;
    players->wake(player);  // In no group yet.
    players->join(source, player);
    players->wake(player);
    players->wake(player);
    let_run();
    EXPECT_EQ(player.served, 1);
    player.wait = 1h;
    players->wake(player);
    let_run();
    players->leave(player);
}

// Others run between two players when they take long.
TEST_F(RtcPlayers, LetsOthersRunWhenServingTakesLong) {
    std::vector<FakePlayer> all(4);
    LaneGroup* group = nullptr;
    for (FakePlayer& player : all) {
        group = &players->join(source, player);
        player.on_serve = [] {
            const auto until = std::chrono::steady_clock::now() + Players::kSlice;
            while (std::chrono::steady_clock::now() < until) {
            }
        };
    }
    publish(*group);
    ASSERT_TRUE(io::yield(io::Deadline::never()).ok());
    EXPECT_LT(all[0].served + all[1].served + all[2].served + all[3].served, 4);
    let_run(10);
    for (FakePlayer& player : all) {
        EXPECT_EQ(player.served, 1);
        players->leave(player);
    }
}

}  // namespace
}  // namespace live::session::rtc
