// Many pulls share the health of origins that answer, refuse, stall, end their streams, redirect and break, while viewers join
// and leave, in simulated time. PULL_SEED=N repeats one seed, PULL_SEEDS makes the run long.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/rounds_fixture.hpp"
#include "engine/relay/puller.hpp"

namespace live::engine::relay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum class OriginState : std::uint8_t { has_stream, has_none, refuses, dead, hangs, redirects };

struct Origin {
    std::string name;
    OriginState state = OriginState::has_stream;
};

struct World {
    World(std::uint64_t seed, std::size_t origin_count) : random(static_cast<std::uint32_t>(seed)) {
        for (std::size_t i = 0; i < origin_count; ++i)
            origins.push_back({"rtmp://origin" + std::to_string(i) + ":1935", draw_state()});
        // A redirect leads here.
        origins.push_back({"rtmp://target:1935", draw_state()});
    }

    OriginState draw_state() { return static_cast<OriginState>(random() % 6); }
    bool chance(std::uint32_t one_in) { return random() % one_in == 0; }
    Origin& origin(const std::string& name) { return *std::ranges::find(origins, name, &Origin::name); }
    std::vector<std::string> listed() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i + 1 < origins.size(); ++i)
            names.push_back(origins[i].name);
        return names;
    }

    std::mt19937 random;
    std::vector<Origin> origins;
    OriginHealth health;
    TimePoint now = TimePoint() + std::chrono::hours(1);
    bool is_short_of_memory = false;
    bool is_settled = false;  // origins, viewers and the rest do not change
    std::uint64_t connects = 0;
};

// The owner of a Puller. It performs the actions of the Puller and checks the invariants.
class Owner final : public PullEnvironment {
public:
    Owner(World& world, std::size_t index)
        : world_(world),
          stream_("/live/" + std::to_string(index)),
          puller_(*this, world.health, stream_, {}, world.random(), world.now) {
        puller_.set_demand(true, world.now);
    }

    PullRules rules() const override { return {true, true, seconds(5)}; }
    bool is_short_of_memory() const override { return world_.is_short_of_memory; }
    TimePoint silence_from(TimePoint start) const override { return start; }

    void step() {
        change();
        // Each action of a turn either waits or is one step of a dial.
        for (int turns = 0;; ++turns) {
            ASSERT_LT(turns, 20) << "the pull does not come to rest in " << static_cast<int>(state());
            if (!act())
                break;
        }
        check();
    }

    void set_demand(bool exists) {
        has_demand_ = exists;
        demand_changed_ = world_.now;
        puller_.set_demand(exists, world_.now);
    }
    bool is_playing() const { return state() == PullState::playing; }
    bool is_over() const { return relay::is_over(state()); }
    std::size_t most_connects_per_second() const { return most_per_second_; }
    const std::set<PullState>& states() const { return states_; }

private:
    PullState state() const { return puller_.status().state; }

    // Viewers, operators, memory and the registry.
    void change() {
        if (world_.is_settled)
            return;
        if (world_.chance(400))
            set_demand(!has_demand_);
        if (world_.chance(2'000))
            puller_.handle_moved();
        if (world_.chance(5'000))
            puller_.handle_kick("kicked");
        if (world_.chance(5'000)) {
            is_published_ = false;
            puller_.handle_memory_lost("too large", world_.now);
        }
        if (dial_until_ && world_.chance(200)) {
            puller_.handle_moved();
            EXPECT_TRUE(puller_.handle_dial_stopped(world_.now));
            dial_until_.reset();
        }
    }

    // Reports whether there is more to do now.
    bool act() {
        if (dial_until_)
            return finish_dial();
        const PullAction action = puller_.next_action(world_.now);
        states_.insert(state());
        if (!is_connected(state()))
            is_open_ = false;
        if (action == PullAction::exchange || action == PullAction::wait) {
            const auto deadline = puller_.deadline();
            EXPECT_TRUE(!deadline || *deadline > world_.now) << "an overdue decision in " << static_cast<int>(state());
        }
        switch (action) {
            case PullAction::find_origins: find(); return true;
            case PullAction::dial: begin_dial(); return true;
            case PullAction::follow_redirect: follow(); return true;
            case PullAction::check_location: puller_.handle_location(world_.chance(2), world_.now); return true;
            case PullAction::unpublish:
                EXPECT_TRUE(is_published_);
                is_published_ = false;
                puller_.handle_unpublished();
                return true;
            case PullAction::exchange: exchange(); return !is_connected(state());
            case PullAction::wait:
            case PullAction::stop: break;
        }
        return false;
    }

    void find() {
        if (!world_.is_settled && world_.chance(20))
            return puller_.handle_no_origins("the registry is away", seconds(1), world_.now);
        puller_.handle_origins(world_.listed(), world_.now);
    }

    void follow() {
        if (world_.chance(8))
            puller_.handle_unusable("no URL", world_.now);
        else
            puller_.handle_redirect_target("rtmp://target:1935", world_.now);
    }

    void begin_dial() {
        EXPECT_FALSE(is_open_) << "a second connection";
        EXPECT_FALSE(dial_until_) << "a second dial";
        EXPECT_TRUE(has_demand_ || world_.now - demand_changed_ < rules().linger) << "a dial without demand";
        ++world_.connects;
        std::erase_if(connected_, [this](TimePoint at) { return at <= world_.now - seconds(1); });
        connected_.push_back(world_.now);
        most_per_second_ = std::max(most_per_second_, connected_.size());
        began_ = world_.now;
        dial_until_ = world_.now + milliseconds(world_.random() % 3 * 10);
    }

    bool finish_dial() {
        if (world_.now < *dial_until_)
            return false;
        dial_until_.reset();
        if (world_.origin(puller_.status().origin).state == OriginState::dead) {
            puller_.handle_failed("connection refused", world_.now);
        } else {
            puller_.handle_dialled({}, false, world_.now);
            is_open_ = is_connected(state());
        }
        return true;
    }

    void exchange() {
        EXPECT_TRUE(is_open_);
        switch (world_.origin(puller_.status().origin).state) {
            case OriginState::has_stream: return receive();
            case OriginState::has_none: puller_.handle_started(world_.now); return end();
            case OriginState::refuses: return puller_.handle_refused("no such stream", world_.now);
            case OriginState::dead: return puller_.handle_failed("reset", world_.now);
            case OriginState::hangs: return;
            case OriginState::redirects: return puller_.handle_redirect("rtmp://target", Puller::kRtmpRedirectsMax, world_.now);
        }
    }

    void end() {
        if (has_media(state()))
            puller_.handle_stream_ended(world_.now);
    }

    void receive() {
        puller_.handle_answered(world_.now);
        puller_.handle_started(world_.now);
        const FrameKind kind = world_.chance(20) ? FrameKind::key : world_.chance(2) ? FrameKind::other : FrameKind::delta;
        if (puller_.handle_frame(kind, world_.now) != FrameUse::publish)
            return;
        is_published_ = true;
        puller_.handle_published(world_.now);
        EXPECT_EQ(puller_.handle_frame(kind, world_.now), FrameUse::pass);
    }

    void check() {
        const bool is_settled = state() == PullState::over || state() == PullState::replaced;
        if (is_settled)
            return;
        const auto deadline = puller_.deadline();
        // Only an origin that has agreed to send the stream may be waited for without a limit, by a viewer.
        if (!deadline) {
            EXPECT_TRUE(state() == PullState::waiting || state() == PullState::ended) << static_cast<int>(state());
            EXPECT_TRUE(has_demand_);
            return;
        }
        EXPECT_LE(*deadline - world_.now, OriginHealth::kBackoffMax * 5 / 4) << static_cast<int>(state());
        EXPECT_TRUE(is_published_ || !has_media(state()));
    }

    World& world_;
    const std::string stream_;
    Puller puller_;
    bool has_demand_ = true;
    TimePoint demand_changed_{};
    bool is_open_ = false;
    bool is_published_ = false;
    std::optional<TimePoint> dial_until_;
    TimePoint began_{};
    std::vector<TimePoint> connected_;  // within the last second
    std::size_t most_per_second_ = 0;
    std::set<PullState> states_;
};

class Simulation {
public:
    Simulation(std::uint64_t seed, std::size_t origins, std::size_t pulls) : world(seed, origins) {
        for (std::size_t i = 0; i < pulls; ++i)
            owners.push_back(std::make_unique<Owner>(world, i));
    }

    void run(Duration length) {
        for (const TimePoint end = world.now + length; world.now < end; world.now += milliseconds(10)) {
            if (!world.is_settled && world.chance(100))
                world.origins[world.random() % world.origins.size()].state = world.draw_state();
            if (!world.is_settled && world.chance(1'000))
                world.is_short_of_memory = !world.is_short_of_memory;
            for (auto& owner : owners) {
                // A pull that is over is replaced when a client requests the stream again.
                if (owner->is_over())
                    owner = std::make_unique<Owner>(world, static_cast<std::size_t>(&owner - owners.data()));
                owner->step();
                states.insert(owner->states().begin(), owner->states().end());
            }
            if (::testing::Test::HasFailure())
                return;
        }
    }
    // From now on nothing changes; every pull has a viewer.
    void settle(bool is_available) {
        world.is_settled = true;
        world.is_short_of_memory = false;
        for (auto& owner : owners)
            if (!owner->is_over())
                owner->set_demand(true);
        if (is_available)
            world.origins[world.random() % (world.origins.size() - 1)].state = OriginState::has_stream;
        else
            for (Origin& origin : world.origins)
                origin.state = OriginState::dead;
    }
    std::size_t playing() const {
        return static_cast<std::size_t>(std::ranges::count_if(owners, [](const auto& owner) { return owner->is_playing(); }));
    }

    World world;
    std::vector<std::unique_ptr<Owner>> owners;
    std::set<PullState> states;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// At worst the available origin is in its longest backoff, and each of the others takes its turn and hangs, by a redirect too.
Duration longest_search(std::size_t origins) {
    return OriginHealth::kBackoffMax * 5 / 4 + Puller::kMemoryPause + (origins + 1) * 3 * Puller::kStartLimit;
}

TEST(PullerSimulation, EveryPullFindsAnAvailableOrigin) {
    const std::uint64_t first = number_from("PULL_SEED", 1);
    const std::uint64_t count = number_from("PULL_SEEDS", std::getenv("PULL_SEED") == nullptr ? rounds(10U, 40U) : 1);
    std::set<PullState> states;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        SCOPED_TRACE("PULL_SEED=" + std::to_string(seed));
        const std::size_t origins = 1 + seed % 8;
        Simulation simulation(seed, origins, 20);
        simulation.run(std::chrono::minutes(2));
        simulation.settle(true);
        simulation.run(longest_search(origins));
        ASSERT_FALSE(HasFailure());
        EXPECT_EQ(simulation.playing(), 20U);
        states.insert(simulation.states.begin(), simulation.states.end());
    }
    if (count < 10)
        return;
    for (const PullState state : {PullState::pausing, PullState::resting, PullState::redirected, PullState::requesting,
                                  PullState::waiting, PullState::ended, PullState::without_key, PullState::playing})
        EXPECT_TRUE(states.contains(state)) << static_cast<int>(state);
}

TEST(PullerSimulation, FindsAnOriginAgainAfterTenMinutes) {
    for (std::uint64_t seed = 1; seed <= rounds(4U, 10U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Simulation simulation(seed, 3, 20);
        simulation.settle(false);
        simulation.run(std::chrono::minutes(10));
        EXPECT_EQ(simulation.playing(), 0U);
        simulation.settle(true);
        simulation.run(OriginHealth::kBackoffMax * 5 / 4 + 2 * Puller::kStartLimit);
        EXPECT_EQ(simulation.playing(), 20U);
    }
}

TEST(PullerSimulation, BoundsTheRateOfConnections) {
    for (std::uint64_t seed = 1; seed <= rounds(8U, 20U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::size_t origins = 1 + seed % 8;
        Simulation simulation(seed, origins, 20);
        simulation.run(std::chrono::minutes(1));
        simulation.settle(false);
        simulation.run(std::chrono::minutes(1));
        const std::uint64_t before = simulation.world.connects;
        simulation.run(std::chrono::minutes(5));
        // All pulls share the health of an origin. Pulls that retry in one moment count as one failure.
        EXPECT_LE(simulation.world.connects - before, 20 * origins * (5 * 60 / 10 + 1));
        for (const auto& owner : simulation.owners)
            EXPECT_LE(owner->most_connects_per_second(), 3 * (origins + 1));
    }
}

TEST(PullerSimulation, RepeatsASeed) {
    const auto run = [] {
        Simulation simulation(7, 3, 10);
        simulation.run(seconds(60));
        return simulation.world.connects;
    };
    EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace live::engine::relay
