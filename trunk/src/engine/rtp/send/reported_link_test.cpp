// A player without transport-wide feedback on a link with a rate and a queue that drops at its end, simulated with LayerSelector.
#include "engine/rtp/send/reported_link.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"

namespace live::engine::rtp {
namespace {

using Reports = LinkState::Reports;

constexpr std::uint64_t kAudio = 50'000;

class ReportingPlayer {
public:
    ReportingPlayer(double link_rate, unsigned seed) : link(link_rate), random_(seed) {}

    void run(std::chrono::milliseconds time) {
        for (const TimePoint end = now + time; now < end; now += 20ms) {
            decide();
            send();
            if (now >= next_report_)
                report();
            if (layer)
                ++spent[*layer];
        }
    }
    std::size_t best() const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (static_cast<double>(layers[i].rate + kAudio) * 1.2 < link)
                found = i;
        return found;
    }
    // The share of the turns since the last call with this layer.
    double take_share(std::size_t of) {
        std::size_t sum = 0;
        for (const std::size_t one : spent)
            sum += one;
        const double share = static_cast<double>(spent[of]) / static_cast<double>(sum);
        spent = {};
        return share;
    }

    double link;
    double random_loss = 0;
    bool has_remb = false;
    bool has_rtx = false;
    std::chrono::milliseconds report_interval{1'000};
    std::vector<LayerState> layers = {{150'000, true}, {500'000, true}, {1'500'000, true}};
    TimePoint now{1h};
    std::optional<std::size_t> layer;
    std::array<std::size_t, 3> spent{};
    std::uint64_t rises = 0;
    std::uint64_t falls = 0;
    std::uint64_t padded = 0;

private:
    static constexpr double kQueue = 0.2;  // seconds

    void decide() {
        const auto decision = selector_.decide(now, layers, kAudio, reported_.state(now, has_rtx), Duration{0});
        padding_ = decision.padded_rate;
        if (decision.changed && layer && decision.layer != layer)
            ++(layers[*decision.layer].rate > layers[*layer].rate ? rises : falls);
        layer = decision.layer;
    }
    void send() {
        const double media = static_cast<double>(kAudio + (layer ? layers[*layer].rate : 0)) * (0.8 + 0.4 * dice());
        const double rate = std::max(media, static_cast<double>(padding_));
        padded += static_cast<std::uint64_t>((rate - media) / 8 / 50);
        queue_ = std::max(0.0, queue_ - link / 50);
        for (double rest = rate / 50; rest > 0; rest -= 9'600) {
            const double bits = std::min(rest, 9'600.0);
            sent_ += static_cast<std::uint64_t>(bits / 8);
            ++packets_;
            if (queue_ + bits > kQueue * link || dice() < random_loss)
                ++lost_;
            else {
                queue_ += bits;
                arrived_ += bits;
            }
        }
    }
    void report() {
        const std::chrono::duration<double> passed = report_interval;
        next_report_ = now + report_interval;
        if (has_remb) {
            const double arrived = std::exchange(arrived_, 0) / passed.count();
            reported_.estimated(now, static_cast<std::uint64_t>(std::min(link * 0.95, arrived * 1.5 + 10'000)), sent_);
        }
        if (packets_ > 0)
            reported_.reported(now, static_cast<double>(lost_) / static_cast<double>(packets_), sent_);
        packets_ = lost_ = 0;
    }
    double dice() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    LayerSelector selector_;
    ReportedLink reported_;
    std::mt19937 random_;
    TimePoint next_report_{};
    std::uint64_t padding_ = 0;
    std::uint64_t sent_ = 0;
    std::size_t packets_ = 0;
    std::size_t lost_ = 0;
    double queue_ = 0;
    double arrived_ = 0;
};

TEST(ReportedLink, EachLinkMostlyHasItsBestLayerByLoss) {
    for (const double rate : {230e3, 300e3, 450e3, 800e3, 1e6, 1.2e6, 3e6, 20e6})
        for (const auto interval : {1'000ms, 3'000ms})
            for (unsigned seed = 0; seed < rounds(2U, 10U); ++seed) {
                ReportingPlayer player(rate, seed);
                player.random_loss = 0.005;
                player.report_interval = interval;
                player.run(60s);
                player.take_share(0);
                player.rises = 0;
                player.run(10min);
                EXPECT_GT(player.take_share(player.best()), 0.9) << rate << ", seed " << seed << ", " << interval.count();
                EXPECT_LE(player.rises, 10U) << rate << ", seed " << seed << ": tries are rare";
            }
}

TEST(ReportedLink, AGoodLinkHasTheBestLayerAtOnce) {
    ReportingPlayer player(20e6, 1);
    player.random_loss = 0.005;
    player.run(10min);
    EXPECT_EQ(player.take_share(2), 1);
    EXPECT_EQ(player.falls, 0U);
}

TEST(ReportedLink, ABadLinkHasItsLayerWithinFiveSeconds) {
    for (const auto interval : {1'000ms, 3'000ms})
        for (const double rate : {230e3, 800e3}) {
            ReportingPlayer player(rate, 1);
            player.report_interval = interval;
            player.run(5s);
            EXPECT_EQ(player.layer, player.best()) << rate << ", " << interval.count();
        }
}

TEST(ReportedLink, FollowsALinkThatChanges) {
    for (unsigned seed = 0; seed < rounds(3U, 20U); ++seed) {
        ReportingPlayer player(5e6, seed);
        player.run(15s);
        ASSERT_EQ(player.layer, 2U) << seed;
        player.link = 800e3;
        player.run(6s);
        EXPECT_EQ(player.layer, 1U) << seed;
        player.link = 250e3;
        player.run(6s);
        EXPECT_EQ(player.layer, 0U) << seed;
        player.link = 5e6;
        player.run(60s);
        EXPECT_EQ(player.layer, 2U) << seed;
    }
}

TEST(ReportedLink, EachLinkHasItsBestLayerByRemb) {
    for (const bool has_rtx : {true, false})
        for (const double rate : {230e3, 300e3, 800e3, 1e6, 3e6, 20e6})
            for (unsigned seed = 0; seed < rounds(2U, 10U); ++seed) {
                ReportingPlayer player(rate, seed);
                player.has_remb = true;
                player.has_rtx = has_rtx;
                player.run(30s);
                player.take_share(0);
                player.run(2min);
                EXPECT_GT(player.take_share(player.best()), 0.9) << rate << ", seed " << seed << ", RTX " << has_rtx;
                EXPECT_EQ(player.padded > 0, has_rtx) << rate << ", seed " << seed;
            }
}

constexpr TimePoint kStart{1h};
// The bytes that are sent at 1 Mbit/s.
std::uint64_t sent_at(Duration time) { return static_cast<std::uint64_t>(std::chrono::duration<double>(time).count() * 125'000); }

TEST(ReportedLink, IsUnknownUntilThereIsLoss) {
    ReportedLink link;
    EXPECT_EQ(link.state(kStart, true).reports, Reports::none);
    link.reported(kStart, ReportedLink::kLossLow, 0);
    EXPECT_EQ(link.state(kStart, true).reports, Reports::none);
    link.reported(kStart, 0.03, 0);
    EXPECT_EQ(link.state(kStart, true).reports, Reports::arrived);
    EXPECT_FALSE(link.state(kStart, true).may_pad) << "loss shows a limit too late for padding";
    EXPECT_EQ(link.rate(kStart), 0U);
}

TEST(ReportedLink, OnlyLossThatLastsIsALimit) {
    ReportedLink link;
    link.reported(kStart, 0, 0);
    link.reported(kStart + 1s, 0.5, sent_at(1s));
    EXPECT_EQ(link.state(kStart + 1s, false).limits_met, 0U) << "one second";
    link.reported(kStart + 2s, 0.05, sent_at(2s));
    link.reported(kStart + 3s, 0.2, sent_at(3s));
    EXPECT_EQ(link.rate(kStart + 3s), 0U);
    link.reported(kStart + 4s, 0.2, sent_at(4s));
    EXPECT_EQ(link.state(kStart + 4s, false).limits_met, 1U);
    EXPECT_NEAR(static_cast<double>(link.rate(kStart + 4s)), 800'000, 1'000) << "what has arrived";
    EXPECT_EQ(link.state(kStart + 4s, false).clear_min, ReportedLink::kClearMin);
    EXPECT_EQ(link.rate(kStart + 14s), 0U) << "a better layer may be tried";
}

TEST(ReportedLink, EachTryThatFailsDoublesTheTimeToTheNext) {
    ReportedLink link;
    TimePoint now = kStart;
    link.reported(now, 0, 0);
    for (const auto wanted : {10s, 20s, 40s, 80s, 120s, 120s}) {
        now += wanted == 10s ? 3s : 15s;
        link.reported(now, 0.3, sent_at(now - kStart));
        EXPECT_EQ(link.state(now, false).clear_min, wanted);
        now += 1s;
        link.reported(now, 0, sent_at(now - kStart));
    }
    now += 10min;
    link.reported(now, 0, sent_at(now - kStart));
    now += 3s;
    link.reported(now, 0.3, sent_at(now - kStart));
    EXPECT_EQ(link.state(now, false).clear_min, ReportedLink::kClearMin);
}

TEST(ReportedLink, LossThatIsNoLimitDelaysARise) {
    ReportedLink link;
    link.reported(kStart, 0, 0);
    link.reported(kStart + 1s, 0.05, sent_at(1s));
    EXPECT_EQ(link.state(kStart + 2s, false).lossy_at, kStart + 1s);
}

TEST(ReportedLink, FollowsRembWhileItArrives) {
    ReportedLink link;
    link.estimated(kStart, 800'000, 0);
    EXPECT_EQ(link.rate(kStart), 800'000U);
    EXPECT_TRUE(link.state(kStart, true).may_pad);
    EXPECT_FALSE(link.state(kStart, false).may_pad);
    link.estimated(kStart + 1s, 1'200'000, sent_at(1s));
    EXPECT_EQ(link.state(kStart + 1s, true).limits_met, 0U);
    EXPECT_EQ(link.state(kStart + 1s, true).received, 1'000'000U);
    link.estimated(kStart + 2s, 400'000, sent_at(2s));
    EXPECT_EQ(link.state(kStart + 2s, true).limits_met, 1U);
    EXPECT_EQ(link.state(kStart + 2s, true).received, 400'000U) << "no more than the estimate";
    EXPECT_EQ(link.rate(kStart + 2s + ReportedLink::kRembMax), 400'000U);
    EXPECT_EQ(link.rate(kStart + 3s + ReportedLink::kRembMax), 0U);
    link.estimated(kStart + 20s, 0, sent_at(20s));
    EXPECT_EQ(link.state(kStart + 20s, true).rate, 0U);
}

}  // namespace
}  // namespace live::engine::rtp
