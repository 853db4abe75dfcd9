#include "supervisor/decisions/roster.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "base/rounds_fixture.hpp"

namespace live::supervisor {
namespace {

using State = Roster::State;
using engine::workers::Worker;

class RosterTest : public testing::Test {
protected:
    explicit RosterTest(std::size_t count = 3, Worker base = 0) : roster_(base, count, 1) {}

    // Performs all decisions as a machine would on which every start succeeds.
    void perform() {
        while (const auto action = roster_.poll_action()) {
            if (const auto* const start = std::get_if<Roster::Start>(&*action)) {
                starts_.push_back(start->worker);
                roster_.on_started(start->worker, now_);
            } else if (const auto* const kill = std::get_if<Roster::Kill>(&*action)) {
                kills_.push_back(*kill);
            } else if (const auto* const failed = std::get_if<Roster::Failed>(&*action)) {
                failure_ = failed->failure;
            } else {
                ++servings_;
            }
        }
    }
    void serve_all() {
        roster_.begin(now_);
        perform();
        for (std::size_t i = 0; i < starts_.size(); ++i) {
            roster_.on_ready(starts_[i]);
            perform();
        }
        ASSERT_EQ(servings_, 1);
        starts_.clear();
    }
    void pass(Duration time, Duration step = 50ms) {
        for (Duration at{}; at < time; at += step) {
            now_ += step;
            roster_.on_time(now_, step);
            perform();
        }
    }
    void end(Worker worker) {
        roster_.on_ended(worker, now_);
        perform();
    }

    TimePoint now_ = TimePoint() + 100s;
    Roster roster_;
    std::vector<Worker> starts_;
    std::vector<Roster::Kill> kills_;
    std::optional<Roster::Failure> failure_;
    int servings_ = 0;
};

class LaterRosterTest : public RosterTest {
protected:
    LaterRosterTest() : RosterTest(3, 6) {}
};

TEST_F(RosterTest, FirstWorkerStartsAlone) {
    roster_.begin(now_);
    perform();
    EXPECT_EQ(starts_, std::vector<Worker>{1});
    pass(10s);
    EXPECT_EQ(starts_, std::vector<Worker>{1}) << "the others wait for it";
    EXPECT_TRUE(roster_.is_starting_up());
}

TEST_F(RosterTest, OthersStartTogetherWhenTheFirstIsReady) {
    roster_.begin(now_);
    perform();
    roster_.on_ready(1);
    perform();
    EXPECT_EQ(starts_, (std::vector<Worker>{1, 2, 3}));
    EXPECT_EQ(servings_, 0);
}

TEST_F(RosterTest, ServesOnceWhenAllAreReady) {
    serve_all();
    EXPECT_FALSE(roster_.is_starting_up());
    roster_.on_ready(2);
    perform();
    EXPECT_EQ(servings_, 1);
    EXPECT_EQ(roster_.restarts(), 0U);
}

TEST_F(LaterRosterTest, NumbersFollowTheBase) {
    roster_.begin(now_);
    perform();
    roster_.on_ready(7);
    perform();
    EXPECT_EQ(starts_, (std::vector<Worker>{7, 8, 9}));
    EXPECT_TRUE(roster_.is_own(7) && roster_.is_own(9));
    EXPECT_FALSE(roster_.is_own(6) || roster_.is_own(10) || roster_.is_own(0));
}

TEST_F(RosterTest, OrderOfReadinessDoesNotMatter) {
    roster_.begin(now_);
    perform();
    roster_.on_ready(1);
    perform();
    roster_.on_ready(3);
    perform();
    EXPECT_EQ(servings_, 0);
    roster_.on_ready(2);
    perform();
    EXPECT_EQ(servings_, 1);
}

TEST_F(RosterTest, WorkerThatDiesAtStartFailsTheStart) {
    roster_.begin(now_);
    perform();
    end(1);
    ASSERT_TRUE(failure_);
    EXPECT_EQ(failure_->status, 1);
    EXPECT_EQ(failure_->sentence, "worker 1 died while it started");
    pass(60s);
    EXPECT_EQ(starts_, std::vector<Worker>{1}) << "nothing is started after a failure";
}

TEST_F(RosterTest, ReportedFailureFailsTheStart) {
    roster_.begin(now_);
    perform();
    roster_.on_failure(1, {235, "the port is taken"});
    perform();
    ASSERT_TRUE(failure_);
    EXPECT_EQ(failure_->status, 235);
    EXPECT_EQ(failure_->sentence, "the port is taken");
    end(1);
    EXPECT_EQ(failure_->sentence, "the port is taken") << "its end is no second failure";
}

TEST_F(RosterTest, FailureOfALaterWorkerFailsTheStart) {
    roster_.begin(now_);
    perform();
    roster_.on_ready(1);
    perform();
    end(3);
    ASSERT_TRUE(failure_);
    EXPECT_EQ(failure_->sentence, "worker 3 died while it started");
    EXPECT_EQ(servings_, 0);
}

TEST_F(RosterTest, ProgramThatCannotBeStartedFailsTheStart) {
    roster_.begin(now_);
    ASSERT_TRUE(roster_.poll_action());
    roster_.on_start_failed(1, "no memory", now_);
    perform();
    ASSERT_TRUE(failure_);
    EXPECT_EQ(failure_->sentence, "no memory");
}

TEST_F(RosterTest, StartHasALimit) {
    roster_.begin(now_);
    perform();
    ASSERT_TRUE(roster_.next_timeout());
    EXPECT_EQ(*roster_.next_timeout(), now_ + 60s);
    now_ += 60s - 1ms;
    roster_.on_time(now_, {});
    perform();
    EXPECT_FALSE(failure_);
    now_ += 1ms;
    roster_.on_time(now_, {});
    perform();
    ASSERT_TRUE(failure_);
    EXPECT_EQ(failure_->sentence, "a worker does not get ready in time");
    EXPECT_FALSE(roster_.is_starting_up());
}

TEST_F(RosterTest, DeadWorkerIsRestartedAfterAPause) {
    serve_all();
    end(2);
    EXPECT_TRUE(starts_.empty()) << "not at once";
    EXPECT_EQ(roster_.state(2), State::pausing);
    ASSERT_TRUE(roster_.next_timeout());
    EXPECT_GE(*roster_.next_timeout(), now_ + 100ms);
    EXPECT_LE(*roster_.next_timeout(), now_ + 125ms) << "the jitter is a quarter at most";
    pass(150ms);
    EXPECT_EQ(starts_, std::vector<Worker>{2});
    EXPECT_EQ(roster_.state(2), State::starting);
    EXPECT_EQ(roster_.restarts(), 1U);
}

TEST_F(RosterTest, OtherWorkersAreLeftAlone) {
    serve_all();
    end(2);
    pass(1s);
    EXPECT_EQ(roster_.state(1), State::ready);
    EXPECT_EQ(roster_.state(3), State::ready);
    EXPECT_EQ(starts_, std::vector<Worker>{2});
}

TEST_F(RosterTest, PausesGrowWhileAWorkerKeepsDying) {
    serve_all();
    std::vector<Duration> pauses;
    for (int i = 0; i < 10; ++i) {
        end(2);
        pauses.push_back(*roster_.next_timeout() - now_);
        pass(7s);
        ASSERT_EQ(roster_.state(2), State::starting);
    }
    for (std::size_t i = 1; i < 6; ++i)
        EXPECT_GT(pauses[i], pauses[i - 1]) << i;
    EXPECT_LE(pauses.back(), 6'250ms);
    EXPECT_GE(pauses.back(), 5s);
    EXPECT_EQ(roster_.restarts(), 10U);
    EXPECT_FALSE(failure_) << "a running server is not ended by one worker";
}

TEST_F(RosterTest, StableWorkerIsRestartedQuicklyAgain) {
    serve_all();
    for (int i = 0; i < 6; ++i) {
        end(2);
        pass(7s);
    }
    roster_.on_ready(2);
    for (int i = 0; i < 11; ++i) {
        roster_.on_message(2);
        roster_.on_message(1);
        roster_.on_message(3);
        pass(1s);
    }
    end(2);
    EXPECT_LE(*roster_.next_timeout() - now_, 125ms);
}

TEST_F(RosterTest, ShortServiceDoesNotResetThePause) {
    serve_all();
    for (int i = 0; i < 6; ++i) {
        end(2);
        pass(7s);
        roster_.on_ready(2);
    }
    pass(1s);
    end(2);
    EXPECT_GE(*roster_.next_timeout() - now_, 5s);
}

TEST_F(RosterTest, FailedRestartIsTriedAgain) {
    serve_all();
    end(2);
    now_ += 200ms;
    roster_.on_time(now_, {});
    ASSERT_TRUE(roster_.poll_action());
    roster_.on_start_failed(2, "no descriptor", now_);
    EXPECT_EQ(roster_.state(2), State::pausing);
    pass(1s);
    EXPECT_EQ(starts_, std::vector<Worker>{2});
    EXPECT_EQ(roster_.restarts(), 1U) << "the failed attempt is none";
    EXPECT_FALSE(failure_);
}

TEST_F(RosterTest, SilentWorkerIsKilled) {
    serve_all();
    for (int i = 0; i < 6; ++i) {
        roster_.on_message(1);
        roster_.on_message(3);
        pass(500ms);
    }
    EXPECT_TRUE(kills_.empty());
    pass(600ms);
    ASSERT_EQ(kills_.size(), 1U);
    EXPECT_EQ(kills_[0].worker, 2);
    EXPECT_EQ(kills_[0].reason, ", killed because its loop stood still for 3500 ms");
    pass(2s);
    EXPECT_EQ(std::ranges::count(kills_, Worker{2}, &Roster::Kill::worker), 1) << "once";
}

TEST_F(RosterTest, AnyMessageEndsTheSilence) {
    serve_all();
    for (int i = 0; i < 20; ++i) {
        pass(3s);
        for (Worker worker = 1; worker <= 3; ++worker)
            roster_.on_message(worker);
    }
    EXPECT_TRUE(kills_.empty());
}

// A suspended machine: no time has passed for the master either.
TEST_F(RosterTest, SilenceIsCountedByPassedTimeOnly) {
    serve_all();
    now_ += 3'600s;
    roster_.on_time(now_, 500ms);
    perform();
    EXPECT_TRUE(kills_.empty());
}

TEST_F(RosterTest, StartingWorkerMayBeSilentForTheLimitOfTheStart) {
    serve_all();
    end(2);
    pass(200ms);
    ASSERT_EQ(roster_.state(2), State::starting);
    for (int i = 0; i < 59; ++i) {
        roster_.on_message(1);
        roster_.on_message(3);
        pass(1s);
    }
    EXPECT_TRUE(kills_.empty());
    roster_.on_message(1);
    roster_.on_message(3);
    pass(2s);
    ASSERT_EQ(kills_.size(), 1U);
    EXPECT_EQ(kills_[0].worker, 2);
}

TEST_F(RosterTest, NothingIsStartedAfterStop) {
    serve_all();
    end(1);
    roster_.stop();
    end(2);
    pass(60s);
    EXPECT_TRUE(starts_.empty());
    EXPECT_FALSE(roster_.next_timeout());
}

TEST_F(RosterTest, StartThatIsDueIsDroppedByStop) {
    serve_all();
    end(1);
    now_ += 1s;
    roster_.on_time(now_, {});
    roster_.stop();
    perform();
    EXPECT_TRUE(starts_.empty());
}

TEST_F(RosterTest, RetiredWorkerIsNeitherRestartedNorKilled) {
    serve_all();
    roster_.retire(2);
    for (int i = 0; i < 10; ++i) {
        roster_.on_message(1);
        roster_.on_message(3);
        pass(1s);
    }
    EXPECT_TRUE(kills_.empty());
    end(2);
    pass(10s);
    EXPECT_EQ(std::ranges::count(starts_, Worker{2}), 0);
    EXPECT_EQ(roster_.state(2), State::retired);
}

TEST_F(RosterTest, AdoptedWorkerIsWatchedAndNeverRestarted) {
    serve_all();
    roster_.adopt(7);
    EXPECT_TRUE(roster_.is_ready(7));
    for (int i = 0; i < 4; ++i) {
        for (Worker worker = 1; worker <= 3; ++worker)
            roster_.on_message(worker);
        pass(1s);
    }
    ASSERT_EQ(kills_.size(), 1U);
    EXPECT_EQ(kills_[0].worker, 7);
    end(7);
    for (int i = 0; i < 10; ++i) {
        for (Worker worker = 1; worker <= 3; ++worker)
            roster_.on_message(worker);
        pass(1s);
    }
    EXPECT_TRUE(starts_.empty());
    roster_.remove(7);
    EXPECT_FALSE(roster_.state(7));
}

TEST_F(RosterTest, UnknownWorkersAreIgnored) {
    serve_all();
    roster_.on_message(60);
    roster_.on_ready(60);
    roster_.on_failure(60, {1, "x"});
    roster_.on_started(60, now_);
    roster_.on_start_failed(60, "x", now_);
    roster_.on_ended(60, now_);
    roster_.retire(60);
    perform();
    EXPECT_FALSE(failure_);
    EXPECT_TRUE(starts_.empty());
    EXPECT_EQ(roster_.failure(60), "");
    EXPECT_FALSE(roster_.is_ready(60));
}

TEST_F(RosterTest, FailureOfARestartIsKeptUntilTheNextOne) {
    serve_all();
    end(2);
    pass(200ms);
    roster_.on_failure(2, {3, "the disk is full"});
    EXPECT_EQ(roster_.failure(2), "the disk is full");
    end(2);
    EXPECT_FALSE(failure_);
    EXPECT_EQ(roster_.failure(2), "the disk is full");
    pass(1s);
    EXPECT_EQ(roster_.failure(2), "");
}

TEST_F(RosterTest, ReadyReportOfADeadWorkerIsIgnored) {
    serve_all();
    end(2);
    roster_.on_ready(2);
    EXPECT_EQ(roster_.state(2), State::pausing);
}

// A machine with faults: workers that die at any time, do not start, hang, or report failures.
class RosterSimulation {
public:
    RosterSimulation(std::uint64_t seed, std::size_t count)
        : random_(seed), count_(count), roster_(0, count, static_cast<std::uint32_t>(seed)), processes_(count + 1) {}

    void run(Duration time, bool with_faults) {
        with_faults_ = with_faults;
        if (!has_begun_) {
            roster_.begin(now_);
            has_begun_ = true;
        }
        for (Duration at{}; at < time; at += kStep) {
            now_ += kStep;
            for (Worker worker = 1; worker <= count_; ++worker)
                live(worker);
            roster_.on_time(now_, kStep);
            perform();
        }
    }

    bool all_serve() const {
        for (Worker worker = 1; worker <= count_; ++worker)
            if (!processes_[worker].is_ready)
                return false;
        return true;
    }
    std::size_t running() const { return static_cast<std::size_t>(std::ranges::count_if(processes_, &Process::runs)); }

    bool has_failed = false;
    bool has_served = false;
    std::size_t starts_in_a_second_max = 0;
    std::size_t hung_max_steps = 0;

    Roster& roster() { return roster_; }

private:
    static constexpr Duration kStep = 50ms;

    struct Process {
        bool runs = false;
        bool is_ready = false;
        bool hangs = false;
        std::size_t hung_steps = 0;
        TimePoint ready_at{};
        std::vector<TimePoint> starts;
    };

    bool chance(int in) { return with_faults_ && std::uniform_int_distribution<int>(1, in)(random_) == 1; }

    void live(Worker worker) {
        Process& process = processes_[worker];
        if (!process.runs)
            return;
        if (process.hangs) {
            hung_max_steps = std::max(hung_max_steps, ++process.hung_steps);
            return;
        }
        if (chance(400))
            return die(worker);
        if (process.is_ready && chance(800))
            process.hangs = true;
        if (!process.is_ready && chance(60)) {
            roster_.on_failure(worker, {2, "it does not start"});
            return die(worker);
        }
        if (!process.is_ready && now_ >= process.ready_at) {
            process.is_ready = true;
            roster_.on_ready(worker);
        }
        if (process.is_ready)
            roster_.on_message(worker);
    }

    void die(Worker worker) {
        processes_[worker] = Process{.starts = std::move(processes_[worker].starts)};
        roster_.on_ended(worker, now_);
    }

    void perform() {
        while (const auto action = roster_.poll_action()) {
            if (const auto* const start = std::get_if<Roster::Start>(&*action))
                begin(start->worker);
            else if (const auto* const kill = std::get_if<Roster::Kill>(&*action))
                die(kill->worker);
            else if (std::holds_alternative<Roster::Failed>(*action))
                has_failed = true;
            else
                has_served = true;
        }
    }

    void begin(Worker worker) {
        Process& process = processes_[worker];
        ASSERT_FALSE(process.runs) << "worker " << int(worker) << " runs already";
        if (has_served && chance(5))
            return roster_.on_start_failed(worker, "no descriptor", now_);
        process.runs = true;
        process.ready_at = now_ + std::chrono::milliseconds(std::uniform_int_distribution<int>(10, 2'000)(random_));
        process.starts.push_back(now_);
        std::erase_if(process.starts, [this](TimePoint at) { return now_ - at > 1s; });
        starts_in_a_second_max = std::max(starts_in_a_second_max, process.starts.size());
        roster_.on_started(worker, now_);
    }

    std::mt19937_64 random_;
    const std::size_t count_;
    TimePoint now_ = TimePoint() + 1'000s;
    Roster roster_;
    std::vector<Process> processes_;
    bool with_faults_ = false;
    bool has_begun_ = false;
};

TEST(RosterSimulation, WithoutFaultsEveryWorkerServes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RosterSimulation simulation(seed, 1 + seed % 8);
        simulation.run(10s, false);
        EXPECT_TRUE(simulation.all_serve()) << "seed " << seed;
        EXPECT_TRUE(simulation.has_served) << "seed " << seed;
        EXPECT_EQ(simulation.roster().restarts(), 0U) << "seed " << seed;
    }
}

TEST(RosterSimulation, HealsWhenTheFaultsEnd) {
    std::uint64_t restarts = 0;
    for (std::uint64_t seed = 1; seed <= rounds<std::uint64_t>(40, 5'000); ++seed) {
        RosterSimulation simulation(seed, 1 + seed % 8);
        simulation.run(10s, false);
        simulation.run(300s, true);
        EXPECT_FALSE(simulation.has_failed) << "seed " << seed << ": a server that has started never fails";
        EXPECT_LE(simulation.starts_in_a_second_max, 6U) << "seed " << seed << ": pauses bound the starts";
        EXPECT_LE(simulation.hung_max_steps, 75U) << "seed " << seed << ": hung workers are killed";
        simulation.run(15s, false);
        EXPECT_TRUE(simulation.all_serve()) << "seed " << seed;
        restarts += simulation.roster().restarts();
    }
    EXPECT_GT(restarts, 1'000U) << "the simulation has faults";
}

TEST(RosterSimulation, StartEitherServesOrFails) {
    std::size_t failed = 0;
    for (std::uint64_t seed = 1; seed <= rounds<std::uint64_t>(200, 10'000); ++seed) {
        RosterSimulation simulation(seed, 1 + seed % 8);
        simulation.run(61s, true);
        EXPECT_NE(simulation.has_failed, simulation.has_served) << "seed " << seed;
        failed += simulation.has_failed ? 1 : 0;
    }
    EXPECT_GT(failed, 20U);
    EXPECT_LT(failed, 200U);
}

TEST(RosterSimulation, NothingStartsAfterStop) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        RosterSimulation simulation(seed, 4);
        simulation.run(10s, false);
        simulation.run(20s, true);
        simulation.roster().stop();
        simulation.run(1s, true);
        std::size_t running = simulation.running();
        for (int i = 0; i < 20; ++i) {
            simulation.run(1s, true);
            EXPECT_LE(simulation.running(), running) << "seed " << seed;
            running = simulation.running();
        }
    }
}

}  // namespace
}  // namespace live::supervisor
