#include "session/rtc/transport/players.hpp"

#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/source/stream_table.hpp"

namespace live::session::rtc {
namespace {

struct FakePlayer final : RtpLogPlayer {
    std::optional<TimePoint> serve(TimePoint now) override {
        ++served;
        if (on_serve)
            on_serve();
        return wait == Duration::zero() ? std::nullopt : std::optional(now + std::exchange(wait, Duration::zero()));
    }
    void add_hot_lines(HotLines& lines) const override { add_own_hot_lines(lines); }
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
    ~Fixture() override { EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok()); }
    void publish(RtpLogGroup& group, int packets = 1) {
        for (int i = 0; i < packets; ++i)
            group.rtp_log().append({.kind = MediaKind::video, .payload = Slice::allocate(100), .arrived = io::now()});
        group.rtp_log().flush();
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

void take_a_slice() {
    const auto until = std::chrono::steady_clock::now() + Players::kSlice;
    while (std::chrono::steady_clock::now() < until) {
    }
}

using RtcPlayers = Fixture;

TEST_F(RtcPlayers, EveryPlayerIsServedOnceABatchHoweverManyPackets) {
    std::vector<FakePlayer> all(3);
    RtpLogGroup& group = players->join(source, all[0]);
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

TEST_F(RtcPlayers, AGroupAndItsHoldOnTheLogLiveAsLongAsItsPlayers) {
    FakePlayer one;
    FakePlayer two;
    players->join(source, one);
    players->join(source, two);
    EXPECT_EQ(players->groups(), 1U);
    players->leave(one);
    players->leave(one);
    EXPECT_NE(source->rtp_logs().find(), nullptr);
    players->leave(two);
    EXPECT_EQ(players->groups(), 0U);
    EXPECT_EQ(source->rtp_logs().find(), nullptr);
}

TEST_F(RtcPlayers, ServesAllAlthoughPlayersLeaveMeanwhile) {
    std::vector<FakePlayer> all(5);
    RtpLogGroup* group = nullptr;
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
    player.wait = 200ms;
    RtpLogGroup& group = players->join(source, player);
    publish(group);
    let_run();
    EXPECT_EQ(player.served, 1);
    for (int i = 0; i < 1'000 && player.served < 2; ++i)
        ASSERT_TRUE(io::sleep(io::Deadline::after(5ms)).ok());
    EXPECT_EQ(player.served, 2);
    ASSERT_TRUE(io::sleep(io::Deadline::after(30ms)).ok());
    EXPECT_EQ(player.served, 2);
    players->leave(player);
}

TEST_F(RtcPlayers, ServesANewPlayerAtOnce) {
    FakePlayer player;
    players->wake(player);  // Not in a group yet: no effect.
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

TEST_F(RtcPlayers, DoesNotServePlayersThatWaitForTheirLink) {
    std::vector<FakePlayer> all(200);
    RtpLogGroup* group = nullptr;
    for (FakePlayer& player : all) {
        player.wait = 1h;
        group = &players->join(source, player);
    }
    all[7].wait = 20ms;
    publish(*group);
    let_run();
    ASSERT_TRUE(io::sleep(io::Deadline::after(60ms)).ok());
    for (FakePlayer& player : all) {
        EXPECT_EQ(player.served, &player == &all[7] ? 2 : 1);
        players->leave(player);
    }
}

TEST_F(RtcPlayers, DoesNotServePlayersThatHaveEverything) {
    FakePlayer player;
    player.wait = 500ms;
    RtpLogGroup& group = players->join(source, player);
    publish(group);
    let_run();
    publish(group);  // This time the player accepts all packets.
    let_run();
    EXPECT_EQ(player.served, 2);
    ASSERT_TRUE(io::sleep(io::Deadline::after(600ms)).ok());
    EXPECT_EQ(player.served, 2);
    players->leave(player);
}

// Serving takes longer than the time between two batches: the last members still get their turn.
TEST_F(RtcPlayers, NoPlayerStarvesWhenBatchesArriveTooFast) {
    std::vector<FakePlayer> all(6);
    RtpLogGroup* group = nullptr;
    for (FakePlayer& player : all) {
        group = &players->join(source, player);
        player.on_serve = take_a_slice;
    }
    for (int i = 0; i < 18; ++i) {
        publish(*group);
        ASSERT_TRUE(io::yield(io::Deadline::never()).ok());
    }
    for (FakePlayer& player : all) {
        EXPECT_GE(player.served, 2);
        players->leave(player);
    }
}

TEST_F(RtcPlayers, StreamsTakeTurns) {
    const auto other = streams.find_or_create("/live/b", {}, 60'000).value();
    std::vector<FakePlayer> all(8);
    for (std::size_t i = 0; i < all.size(); ++i) {
        players->join(i < 7 ? source : other, all[i]);
        all[i].on_serve = take_a_slice;
    }
    for (const auto& each : {source, other}) {
        each->rtp_logs().find()->append({.kind = MediaKind::video, .payload = Slice::allocate(100), .arrived = io::now()});
        each->rtp_logs().find()->flush();
    }
    let_run(4);
    EXPECT_EQ(all[7].served, 1) << "it does not wait for the other's last player";
    int served = 0;
    for (const FakePlayer& player : all)
        served += player.served;
    EXPECT_LT(served, 8);
    let_run(10);
    for (FakePlayer& player : all)
        players->leave(player);
}

// Others run between two players when serving takes long.
TEST_F(RtcPlayers, LetsOthersRunWhenServingTakesLong) {
    std::vector<FakePlayer> all(4);
    RtpLogGroup* group = nullptr;
    for (FakePlayer& player : all) {
        group = &players->join(source, player);
        player.on_serve = take_a_slice;
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
