// A player on a link with a rate, a delay and a queue, simulated with the estimator: each link gets the best layer that it
// carries.
#include "engine/rtp/send/layer_selector.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "engine/rtp/receive/arrival_recorder.hpp"
#include "engine/rtp/send/bandwidth_estimator.hpp"
#include "engine/rtp/send/pacer.hpp"

namespace live::engine::rtp {
namespace {

using Reason = LayerSelector::Reason;
using Reports = LinkState::Reports;

constexpr std::uint64_t kAudio = 50'000;

class LayeredPlayer {
public:
    LayeredPlayer(double link_rate, unsigned seed) : link(link_rate), random_(seed) {}
    // Key frames come at this interval, and not on request.
    LayeredPlayer(double link_rate, unsigned seed, std::chrono::milliseconds key_interval)
        : link(link_rate), interval_(key_interval), random_(seed) {}

    void run(std::chrono::milliseconds time) {
        for (const TimePoint end = now + time; now < end; now += 1ms) {
            produce();
            decide();
            send();
            while (!flying_.empty() && flying_.front().first <= now) {
                recorder_.received(flying_.front().first, flying_.front().second);
                flying_.pop_front();
            }
            while (auto report = recorder_.poll(now, 1, 2))
                reports_.emplace_back(now + kDelay, std::move(*report));
            for (; !reports_.empty() && reports_.front().first <= now; reports_.pop_front())
                take(reports_.front().second);
        }
    }
    // The best layer that the link carries, with the room that a switch needs.
    std::size_t best() const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < layers.size(); ++i)
            if (static_cast<double>(layers[i].rate + kAudio) * 1.3 < link)
                found = i;
        return found;
    }

    double link;
    std::vector<LayerState> layers = {{150'000, true}, {500'000, true}, {1'500'000, true}};
    TimePoint now{1h};
    std::optional<std::size_t> layer;
    std::uint64_t changes = 0;
    std::uint64_t switches = 0;
    std::uint64_t padded_bytes = 0;
    Duration queue_max{0};

private:
    static constexpr std::chrono::milliseconds kDelay{30};
    static constexpr std::chrono::milliseconds kKeyWait{100};  // from a request to its key frame
    struct Waiting {
        TimePoint since;
        std::size_t bytes;
    };

    void produce() {
        const auto tick = (now - TimePoint{1h}) / 1ms;
        if (tick % 20 == 0)
            put(kAudio / 8 / 50);
        if (tick % 40 != 0 || !layer)
            return;
        const bool is_own_key = interval_ > 0ms && tick % (interval_ / 1ms) == 0;
        if (target_ != layer && (interval_ > 0ms ? is_own_key : now >= key_at_)) {
            layer = target_;
            waiting_.clear();
            is_key_ = true;
            ++switches;
        }
        is_key_ = is_key_ || is_own_key;
        const double size =
            static_cast<double>(layers[*layer].rate) / 8 / 25 * (std::exchange(is_key_, false) ? 4 : 0.7 + 0.6 * dice());
        for (auto rest = static_cast<std::size_t>(size); rest > 0; rest -= std::min<std::size_t>(rest, 1'200))
            waiting_.push_back({now, std::min<std::size_t>(rest, 1'200)});
    }
    void decide() {
        const LinkState state{.reports = has_report_ ? Reports::arrived : Reports::awaited,
                              .rate = estimator_.rate(),
                              .received = estimator_.received(),
                              .limits_met = estimator_.limits_met(),
                              .queue = estimator_.queue(),
                              .may_pad = true};
        const auto decision =
            selector_.decide(now, layers, kAudio, state, waiting_.empty() ? Duration{0} : now - waiting_.front().since,
                             interval_ > 0ms ? layer : std::nullopt);
        padded_rate_ = decision.padded_rate;
        if (decision.changed) {
            ++changes;
            key_at_ = now + kKeyWait;
            if (!layer)
                layer = decision.layer;
        }
        target_ = decision.layer;
    }
    void send() {
        while (!waiting_.empty() && pacer_.may_send(now)) {
            put(waiting_.front().bytes);
            waiting_.pop_front();
        }
        if (padded_rate_ == 0)
            padder_.reset();
        else if (!padder_)
            padder_.emplace(Pacer::Options{.bits_per_second = padded_rate_, .headroom = 1, .burst = 20ms}, now);
        else
            padder_->set_rate(now, padded_rate_);
        if (padder_ && waiting_.empty() && padder_->may_send(now) && pacer_.may_send(now)) {
            padded_bytes += 1'000;
            put(1'000);
        }
    }
    void put(std::size_t bytes) {
        estimator_.sent(now, ++sequence_, bytes);
        pacer_.sent(now, bytes);
        if (padder_)
            padder_->sent(now, bytes);
        if (free_ > now + 1s)
            return;
        free_ = std::max(free_, now) +
                std::chrono::duration_cast<Duration>(std::chrono::duration<double>(static_cast<double>(bytes) * 8 / link));
        queue_max = std::max(queue_max, free_ - now);
        flying_.emplace_back(free_ + kDelay, sequence_);
    }
    void take(const wire::rtcp::TransportFeedback& feedback) {
        ByteWriter out;
        write(out, feedback);
        const auto packet = wire::rtcp::PacketReader(out.written()).next();
        estimator_.reported(now, wire::rtcp::ArrivalReport::parse(packet.value().value()).value());
        has_report_ = true;
        pacer_.set_rate(now, estimator_.rate());
    }
    double dice() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    const std::chrono::milliseconds interval_{0};
    LayerSelector selector_;
    BandwidthEstimator estimator_{{}};
    Pacer pacer_{{.bits_per_second = 500'000, .burst = 40ms}, now};
    std::optional<Pacer> padder_;
    ArrivalRecorder recorder_;
    std::deque<Waiting> waiting_;
    std::deque<std::pair<TimePoint, std::uint16_t>> flying_;
    std::deque<std::pair<TimePoint, wire::rtcp::TransportFeedback>> reports_;
    std::mt19937 random_;
    std::optional<std::size_t> target_;
    TimePoint key_at_{};
    TimePoint free_{};
    std::uint64_t padded_rate_ = 0;
    std::uint16_t sequence_ = 0;
    bool has_report_ = false;
    bool is_key_ = false;
};

TEST(LayerSelector, EachLinkGetsItsBestLayerWithinTenSeconds) {
    for (const double rate : {230e3, 300e3, 450e3, 800e3, 1e6, 1.4e6, 2.2e6, 3e6, 5e6, 20e6})
        for (unsigned seed = 0; seed < rounds(1U, 5U); ++seed) {
            LayeredPlayer player(rate, seed);
            player.run(10s);
            EXPECT_EQ(player.layer, player.best()) << rate << ", seed " << seed;
            const std::uint64_t before = player.changes;
            player.run(110s);
            EXPECT_EQ(player.layer, player.best()) << rate << ", seed " << seed;
            EXPECT_LE(player.changes - before, 2U) << rate << ", seed " << seed;
            EXPECT_LT(player.queue_max, 500ms) << rate << ", seed " << seed;
        }
}

TEST(LayerSelector, FollowsALinkThatChanges) {
    for (unsigned seed = 0; seed < 5; ++seed) {
        LayeredPlayer player(3e6, seed);
        player.run(10s);
        ASSERT_EQ(player.layer, 2U) << seed;
        player.link = 800e3;
        player.run(5s);
        EXPECT_EQ(player.layer, 1U) << seed;
        player.link = 250e3;
        player.run(5s);
        EXPECT_EQ(player.layer, 0U) << seed;
        player.link = 3e6;
        player.run(90s);
        EXPECT_EQ(player.layer, 2U) << seed;
    }
}

TEST(LayerSelector, PaddingIsBoundedOnALinkThatCarriesNoMore) {
    LayeredPlayer player(800e3, 1);
    player.run(10s);
    const std::uint64_t before = player.padded_bytes;
    player.run(10min);
    // 10 minutes of the whole link are 60 MB.
    EXPECT_LT(player.padded_bytes - before, 3'000'000U);
    EXPECT_GT(player.padded_bytes, before) << "but it tries again";
    EXPECT_EQ(player.layer, 1U);
}

// As with renditions: the smaller ones arrive with key frames every two or four seconds.
TEST(LayerSelector, WaitsForKeyFramesThatCannotBeRequested) {
    for (const auto interval : {2'000ms, 4'000ms})
        for (const double rate : {300e3, 1e6, 5e6})
            for (unsigned seed = 0; seed < 2; ++seed) {
                LayeredPlayer player(rate, seed, interval);
                player.run(25s);
                EXPECT_EQ(player.layer, player.best()) << rate << ", seed " << seed;
                const std::uint64_t before = player.switches;
                player.run(35s);
                EXPECT_EQ(player.layer, player.best()) << rate << ", seed " << seed;
                EXPECT_LE(player.switches - before, 2U) << rate << ", seed " << seed;
            }
}

TEST(LayerSelector, FallsAtAKeyFrameOfALinkThatGotWorse) {
    LayeredPlayer player(3e6, 1, 2'000ms);
    player.run(25s);
    ASSERT_EQ(player.layer, 2U);
    player.link = 250e3;
    player.run(8s);
    EXPECT_EQ(player.layer, 0U);
    player.link = 3e6;
    player.run(90s);
    EXPECT_EQ(player.layer, 2U);
}

constexpr TimePoint kStart{1h};
const std::vector<LayerState> kLayers = {{1'500'000, true}, {150'000, true}, {500'000, true}};

TEST(LayerSelector, StartsSmallWhereTheLinkIsKnownLater) {
    LayerSelector waits;
    const auto small = waits.decide(kStart, kLayers, 0, {.reports = Reports::awaited, .rate = 500'000}, 0s);
    EXPECT_EQ(small.layer, 1U);
    EXPECT_EQ(small.changed, Reason::start);
    LayerSelector blind;
    EXPECT_EQ(blind.decide(kStart, kLayers, 0, {}, 0s).layer, 0U) << "a player without reports gets the best";
    LayerSelector empty;
    EXPECT_EQ(empty.decide(kStart, {}, 0, {}, 0s).layer, std::nullopt);
    EXPECT_EQ(empty.decide(kStart, kLayers, 0, {}, 0s).layer, 0U);
}

TEST(LayerSelector, ReplacesALostLayerAtOnce) {
    LayerSelector selector;
    auto layers = kLayers;
    selector.decide(kStart, layers, 0, {}, 0s);
    layers[0].is_alive = false;
    const auto next = selector.decide(kStart + 10ms, layers, 0, {}, 0s);
    EXPECT_EQ(next.layer, 2U);
    EXPECT_EQ(next.changed, Reason::lost);
    layers[0].is_alive = true;
    EXPECT_EQ(selector.decide(kStart + 20ms, layers, 0, {}, 0s).layer, 0U);
}

TEST(LayerSelector, RisesOnProofAndFallsWhenFramesWait) {
    LayerSelector selector;
    LinkState link{.reports = Reports::awaited, .rate = 500'000};
    selector.decide(kStart, kLayers, 50'000, link, 0s);
    link = {.reports = Reports::arrived, .rate = 3'000'000, .received = 200'000, .may_pad = true};
    auto decision = selector.decide(kStart + 2s, kLayers, 50'000, link, 0s);
    EXPECT_EQ(decision.layer, 1U) << "the estimate alone is no proof";
    EXPECT_EQ(decision.padded_rate, 300'000U);
    link.received = 3'000'000;
    decision = selector.decide(kStart + 3s, kLayers, 50'000, link, 0s);
    EXPECT_EQ(decision.layer, 0U) << "past the layer between";
    EXPECT_EQ(decision.changed, Reason::rise);
    EXPECT_EQ(decision.padded_rate, 0U);
    link.rate = 700'000;
    EXPECT_EQ(selector.decide(kStart + 3'500ms, kLayers, 50'000, link, 1s).layer, 0U) << "too soon";
    decision = selector.decide(kStart + 4s, kLayers, 50'000, link, LayerSelector::kBlockedMax);
    EXPECT_EQ(decision.layer, 2U);
    EXPECT_EQ(decision.changed, Reason::blocked);
    link = {.reports = Reports::arrived, .rate = 3'000'000, .received = 3'000'000, .may_pad = true};
    EXPECT_EQ(selector.decide(kStart + 5'500ms, kLayers, 50'000, link, 0s).layer, 2U) << "the rise has failed: a pause";
    EXPECT_EQ(selector.decide(kStart + 7s, kLayers, 50'000, link, 0s).layer, 0U);
}

TEST(LayerSelector, PadsUntilTheKeyFrameOfABetterLayer) {
    LayerSelector selector;
    LinkState link{.reports = Reports::awaited, .rate = 500'000};
    selector.decide(kStart, kLayers, 50'000, link, 0s, 1);
    link = {.reports = Reports::arrived, .rate = 800'000, .received = 800'000, .may_pad = true};
    EXPECT_EQ(selector.decide(kStart + 2s, kLayers, 50'000, link, 0s, 1).layer, 2U);
    link.received = 700'000;
    auto decision = selector.decide(kStart + 3s, kLayers, 50'000, link, 0s, 1);
    EXPECT_EQ(decision.layer, 2U);
    EXPECT_EQ(decision.padded_rate, 612'500U) << "the layer with room, and audio";
    decision = selector.decide(kStart + 5s, kLayers, 50'000, link, 0s, 2);
    EXPECT_EQ(decision.layer, 2U);
    EXPECT_FALSE(decision.changed) << "it is there now";
    EXPECT_FALSE(selector.decide(kStart + 5'900ms, kLayers, 50'000, link, 1s, 2).changed) << "the time counts from its key frame";
    EXPECT_EQ(selector.decide(kStart + 6s, kLayers, 50'000, link, 1s, 2).layer, 1U);
    decision = selector.decide(kStart + 8s, kLayers, 50'000, link, 1s, 2);
    EXPECT_EQ(decision.layer, 1U) << "the larger one still blocks the link until the key frame of the smaller one";
    EXPECT_EQ(decision.padded_rate, 0U);
}

TEST(LayerSelector, GivesABetterLayerUpIfTheLinkShowsALimitMeanwhile) {
    LayerSelector selector;
    LinkState link{.reports = Reports::awaited, .rate = 500'000};
    selector.decide(kStart, kLayers, 50'000, link, 0s, 1);
    link = {.reports = Reports::arrived, .rate = 800'000, .received = 800'000, .may_pad = true};
    EXPECT_EQ(selector.decide(kStart + 2s, kLayers, 50'000, link, 0s, 1).layer, 2U);
    link.rate = 400'000;
    const auto decision = selector.decide(kStart + 3s, kLayers, 50'000, link, 0s, 1);
    EXPECT_EQ(decision.layer, 1U);
    EXPECT_EQ(decision.changed, Reason::estimate);
    link.rate = 800'000;
    EXPECT_EQ(selector.decide(kStart + 4s, kLayers, 50'000, link, 0s, 1).layer, 1U) << "a pause";
}

TEST(LayerSelector, BeginsWithTheLayerThatThePlayerHas) {
    LayerSelector selector;
    selector.begin_with(kStart, 0);
    const LinkState link{.reports = Reports::arrived, .rate = 2'000'000, .received = 1'600'000};
    const auto decision = selector.decide(kStart + 50ms, kLayers, 0, link, 0s, 0);
    EXPECT_EQ(decision.layer, 0U);
    EXPECT_FALSE(decision.changed);
}

TEST(LayerSelector, PlayersWithoutPaddingRiseAfterAQuietTime) {
    LayerSelector selector;
    LinkState link{.reports = Reports::arrived, .rate = 400'000, .received = 200'000};
    selector.decide(kStart, kLayers, 0, link, 0s);
    EXPECT_EQ(selector.decide(kStart + 4s, kLayers, 0, link, 0s).layer, 1U);
    EXPECT_EQ(selector.decide(kStart + 5s, kLayers, 0, link, 0s).layer, 2U);
    link.rate = 200'000;
    selector.decide(kStart + 6s, kLayers, 0, link, 0s);
    const auto decision = selector.decide(kStart + 6s + LayerSelector::kOverMax, kLayers, 0, link, 0s);
    EXPECT_EQ(decision.layer, 1U);
    EXPECT_EQ(decision.changed, Reason::estimate);
}

}  // namespace
}  // namespace live::engine::rtp
