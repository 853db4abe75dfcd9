// A sender that follows the estimate, a link with a rate, a delay, a 300 ms queue and random loss, and a player that reports.
#include "engine/rtp/send/bandwidth_estimator.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/rtp/receive/arrival_recorder.hpp"

namespace live::engine::rtp {
namespace {

struct Link {
    double bits_per_second = 2'000'000;
    std::chrono::milliseconds delay = 25ms;  // each way
    double loss = 0;
    std::chrono::microseconds jitter{0};
};

// As it arrives: written, then read in place.
void give_report(BandwidthEstimator& estimator, TimePoint now, const wire::rtcp::TransportFeedback& feedback) {
    ByteWriter out;
    write(out, feedback);
    const auto packet = wire::rtcp::PacketReader(out.written()).next();
    estimator.reported(now, wire::rtcp::ArrivalReport::parse(packet.value().value()).value());
}

class Simulation {
public:
    Simulation(Link over, unsigned seed, BandwidthEstimator::Options options = {})
        : link(over), estimator(options), random_(seed) {}

    void run(std::chrono::milliseconds time) {
        for (const TimePoint end = now + time; now < end; now += 1ms) {
            send();
            carry();
            while (auto report = recorder_.poll(now, 1, 2))
                reports_.emplace_back(now + link.delay, std::move(*report));
            while (!reports_.empty() && reports_.front().first <= now) {
                give_report(estimator, now, reports_.front().second);
                reports_.erase(reports_.begin());
            }
        }
    }

    Link link;
    BandwidthEstimator estimator;
    TimePoint now{1h};

private:
    static constexpr std::size_t kBytes = 1'200;

    void send() {
        budget_ += static_cast<double>(estimator.rate()) / 1'000;
        for (; budget_ >= kBytes * 8; budget_ -= kBytes * 8) {
            estimator.sent(now, ++sequence_, kBytes);
            if (free_ > now + 300ms)
                continue;
            free_ = std::max(free_, now) +
                    std::chrono::duration_cast<Duration>(std::chrono::duration<double>(kBytes * 8 / link.bits_per_second));
            if (dice() >= link.loss)
                flying_.emplace_back(free_ + link.delay + std::chrono::duration_cast<Duration>(link.jitter * dice()), sequence_);
        }
    }
    void carry() {
        std::ranges::stable_sort(flying_, {}, &std::pair<TimePoint, std::uint16_t>::first);
        while (!flying_.empty() && flying_.front().first <= now) {
            recorder_.received(flying_.front().first, flying_.front().second);
            flying_.erase(flying_.begin());
        }
    }
    double dice() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    ArrivalRecorder recorder_;
    std::vector<std::pair<TimePoint, std::uint16_t>> flying_;
    std::vector<std::pair<TimePoint, wire::rtcp::TransportFeedback>> reports_;
    std::mt19937 random_;
    TimePoint free_;  // when the link has sent everything queued
    double budget_ = 0;
    std::uint16_t sequence_ = 65'000;
};

void expect_settled(Simulation& simulation, const char* what, unsigned seed) {
    double sum = 0;
    constexpr int kSamples = 20;
    for (int i = 0; i < kSamples; ++i) {
        simulation.run(100ms);
        sum += static_cast<double>(simulation.estimator.rate());
    }
    const double mean = sum / kSamples;
    EXPECT_GT(mean, 0.8 * simulation.link.bits_per_second) << what << ", seed " << seed;
    EXPECT_LT(mean, 1.2 * simulation.link.bits_per_second) << what << ", seed " << seed;
}

TEST(BandwidthEstimator, SettlesNearTheLinkWithinFiveSeconds) {
    for (const double rate : {300'000.0, 1'000'000.0, 2'000'000.0, 8'000'000.0})
        for (unsigned seed = 0; seed < 3; ++seed) {
            Simulation simulation({.bits_per_second = rate}, seed);
            simulation.run(5s);
            expect_settled(simulation, "plain", seed);
        }
}

TEST(BandwidthEstimator, RandomLossDoesNotStarveIt) {
    for (unsigned seed = 0; seed < 3; ++seed) {
        Simulation simulation({.loss = 0.05, .jitter = 5ms}, seed);
        simulation.run(5s);
        expect_settled(simulation, "5 % loss", seed);
    }
}

TEST(BandwidthEstimator, FollowsALinkThatNarrows) {
    for (unsigned seed = 0; seed < 3; ++seed) {
        Simulation simulation({.bits_per_second = 4'000'000}, seed);
        simulation.run(5s);
        simulation.link.bits_per_second = 1'000'000;
        simulation.run(5s);
        expect_settled(simulation, "narrowed", seed);
    }
}

TEST(BandwidthEstimator, CountsLimitsAndForgetsThem) {
    Simulation simulation({.bits_per_second = 1'000'000}, 1);
    EXPECT_FALSE(simulation.estimator.has_met_limit());
    simulation.run(5s);
    EXPECT_GT(simulation.estimator.limits_met(), 0U);
    EXPECT_NEAR(static_cast<double>(simulation.estimator.received()), 1e6, 2e5);
    // Nothing is sent for this long, and the link has become better.
    simulation.now += BandwidthEstimator::kLimitMemory;
    simulation.link.bits_per_second = 20'000'000;
    simulation.run(3s);
    EXPECT_GT(simulation.estimator.rate(), 5'000'000U) << "15 % a second would take 12 s";
}

TEST(BandwidthEstimator, StaysWithinItsBounds) {
    Simulation wide({.bits_per_second = 100'000'000}, 1, {.max = 3'000'000});
    wide.run(10s);
    EXPECT_EQ(wide.estimator.rate(), 3'000'000U);
    Simulation narrow({.bits_per_second = 10'000}, 1, {.min = 100'000});
    narrow.run(20s);
    EXPECT_GE(narrow.estimator.rate(), 100'000U);
    EXPECT_LT(narrow.estimator.rate(), 120'000U);
}

TEST(BandwidthEstimator, MeasuresTheRoundTrip) {
    Simulation simulation({.bits_per_second = 50'000'000, .delay = 40ms}, 1, {.max = 1'000'000});
    simulation.run(3s);
    EXPECT_GE(simulation.estimator.round_trip(), 80ms);
    EXPECT_LT(simulation.estimator.round_trip(), 100ms);
}

TEST(BandwidthEstimator, ASenderWithLittleToSendKeepsItsRate) {
    BandwidthEstimator estimator({.start = 1'000'000});
    ArrivalRecorder recorder;
    TimePoint now{1h};
    for (std::uint16_t i = 0; i < 500; ++i, now += 20ms) {
        estimator.sent(now, i, 100);
        recorder.received(now, i);
        while (const auto report = recorder.poll(now, 1, 2))
            give_report(estimator, now, *report);
    }
    EXPECT_EQ(estimator.rate(), 1'000'000U) << "audio alone of 40 kbps neither lowers nor raises it";
}

TEST(BandwidthEstimator, InvalidReportsAndSilenceChangeNothing) {
    BandwidthEstimator estimator({.start = 1'000'000});
    const TimePoint now{1h};
    for (std::size_t i = 0; i < 2 * BandwidthEstimator::kSentMax; ++i)
        estimator.sent(now, static_cast<std::uint16_t>(i), 1'000);
    EXPECT_EQ(estimator.in_flight(), BandwidthEstimator::kSentMax);
    wire::rtcp::TransportFeedback feedback;
    feedback.base_sequence = 40'000;
    feedback.packets.assign(10, {true, std::int16_t{1}});
    give_report(estimator, now, feedback);
    EXPECT_EQ(estimator.rate(), 1'000'000U);
    EXPECT_EQ(estimator.in_flight(), BandwidthEstimator::kSentMax) << "of numbers that were not sent";
}

}  // namespace
}  // namespace live::engine::rtp
