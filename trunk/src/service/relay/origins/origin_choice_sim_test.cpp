// Many pulls share a book of origins that die, hang, come back and lose their streams, in made-up time. What a pull does at an
// origin is written here again in a few lines, by the limits of pull.hpp; what is tested is the choice: no pull waits for ever
// for a stream that is there, and nobody is asked without a pause.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "service/relay/pull.hpp"

namespace live::service::relay {
namespace {

using std::chrono::milliseconds;

class World {
public:
    enum class State : std::uint8_t { has_stream, has_none, refuses, dead, hangs };

    World(std::uint32_t seed, std::size_t origins, std::size_t pulls) : random_(seed), pulls_(pulls) {
        for (std::size_t i = 0; i < origins; ++i) {
            names_.push_back("rtmp://origin" + std::to_string(i) + ":1935");
            states_.push_back(draw_state());
        }
        for (std::size_t i = 0; i < pulls; ++i)
            pulls_[i].stream = "/live/" + std::to_string(i);
    }

    void run(Duration length) {
        for (const TimePoint end = now_ + length; now_ < end; now_ += kStep) {
            if (changes_ && random_() % 100 == 0)
                states_[random_() % states_.size()] = draw_state();
            for (Pulling& pull : pulls_)
                step(pull);
        }
    }
    // From now on nothing changes, and one origin has every stream.
    void settle() {
        stop_changes();
        states_[random_() % states_.size()] = State::has_stream;
    }
    void stop_changes() { changes_ = false; }
    void end_all() { std::ranges::fill(states_, State::dead); }

    std::size_t playing() const {
        return static_cast<std::size_t>(std::ranges::count_if(pulls_, [](const Pulling& pull) { return pull.plays; }));
    }
    std::uint64_t connects() const { return connects_; }
    // Of one pull within a second.
    std::size_t most_connects_per_pull() const { return most_per_pull_; }

private:
    static constexpr milliseconds kStep{10};

    struct Pulling {
        std::string stream;
        LeftOrigins left;
        std::optional<std::size_t> at;  // the origin that it is connected to, or connects to
        TimePoint since;
        TimePoint idle_until;
        bool plays = false;
        std::vector<TimePoint> connected;  // within the last second
    };

    State draw_state() { return static_cast<State>(random_() % 5); }

    void step(Pulling& pull) {
        if (!pull.at && now_ >= pull.idle_until)
            choose(pull);
        if (pull.at)
            stay(pull);
    }

    void choose(Pulling& pull) {
        const auto choice = book_.choose(names_, pull.stream, pull.left, now_).value();
        if (choice.wait > Duration::zero()) {
            pull.idle_until = now_ + choice.wait;
            return;
        }
        pull.at = choice.index;
        pull.since = now_;
        ++connects_;
        std::erase_if(pull.connected, [this](TimePoint at) { return at <= now_ - std::chrono::seconds(1); });
        pull.connected.push_back(now_);
        most_per_pull_ = std::max(most_per_pull_, pull.connected.size());
    }

    // Connecting takes no time here.
    void stay(Pulling& pull) {
        const Duration here = now_ - pull.since;
        switch (states_[*pull.at]) {
            case State::has_stream:
                if (!std::exchange(pull.plays, true))
                    pull.left.clear();
                book_.report_up(names_[*pull.at], milliseconds(1), now_);
                pull.since = now_;
                return;
            case State::has_none:
                if (here >= Pull::kFirstMediaLimit && names_.size() > 1)
                    leave(pull, Duration::zero());
                return;
            case State::refuses: return leave(pull, Pull::kRefusedPause);
            case State::dead: return fail(pull);
            case State::hangs:
                if (here >= (pull.plays ? Duration(Pull::kSilenceMax) : Duration(Pull::kStartLimit)))
                    fail(pull);
                return;
        }
    }
    void fail(Pulling& pull) {
        book_.report_down(names_[*pull.at], "gone", now_, static_cast<std::uint32_t>(random_()));
        leave(pull, Duration::zero());
    }
    void leave(Pulling& pull, Duration pause) {
        pull.left.add(names_[*pull.at]);
        pull.at.reset();
        pull.plays = false;
        pull.idle_until = now_ + pause;
    }

    std::mt19937 random_;
    std::vector<std::string> names_;
    std::vector<State> states_;
    std::vector<Pulling> pulls_;
    OriginBook book_;
    TimePoint now_ = TimePoint() + std::chrono::hours(1);
    std::uint64_t connects_ = 0;
    std::size_t most_per_pull_ = 0;
    bool changes_ = true;
};

TEST(OriginChoiceSimulation, NobodyWaitsForEver) {
    for (std::uint32_t seed = 1; seed <= rounds(8U, 20U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::size_t origins = 1 + seed % 8;
        World world(seed, origins, 20);
        world.run(std::chrono::minutes(2));
        world.settle();
        // At worst the origin is in its longest backoff, and each of the others gets a turn at which it hangs.
        world.run(OriginBook::kBackoffMax * 5 / 4 + origins * 2 * Pull::kStartLimit);
        EXPECT_EQ(world.playing(), 20U);
    }
}

TEST(OriginChoiceSimulation, AnOriginIsFoundAgainAfterTenMinutes) {
    for (std::uint32_t seed = 1; seed <= rounds(4U, 10U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World world(seed, 3, 20);
        world.end_all();
        world.stop_changes();
        world.run(std::chrono::minutes(10));
        EXPECT_EQ(world.playing(), 0U);
        world.settle();
        world.run(OriginBook::kBackoffMax * 5 / 4 + 2 * Pull::kStartLimit);
        EXPECT_EQ(world.playing(), 20U);
    }
}

TEST(OriginChoiceSimulation, NobodyIsAskedWithoutAPause) {
    for (std::uint32_t seed = 1; seed <= rounds(8U, 20U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::size_t origins = 1 + seed % 8;
        World world(seed, origins, 20);
        world.run(std::chrono::minutes(2));
        // Each origin once at once; then a backoff, a pause or a time limit is between two.
        EXPECT_LE(world.most_connects_per_pull(), 3 * origins);
        world.end_all();
        world.stop_changes();
        world.run(std::chrono::minutes(1));
        const std::uint64_t before = world.connects();
        world.run(std::chrono::minutes(5));
        // All pulls together: the health of an origin is theirs in common.
        EXPECT_LE(world.connects() - before, origins * (5 * 60 / 10 + 1));
    }
}

}  // namespace
}  // namespace live::service::relay
