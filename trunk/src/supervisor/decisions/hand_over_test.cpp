#include "supervisor/decisions/hand_over.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/rounds_fixture.hpp"

namespace live::supervisor {
namespace {

using Late = HandOver::Late;
using Step = HandOver::Step;
using engine::workers::Worker;

constexpr HandOver::Limits kLimits{10s, 65s, 10s};

class HandOverTest : public testing::Test {
protected:
    explicit HandOverTest(Late late = Late::kill) : steps_(kLimits, late) {}

    void begin(std::vector<Worker> old) {
        steps_.begin(old, now_);
        perform();
    }
    void perform() {
        while (const auto action = steps_.poll_action()) {
            if (const auto* const request = std::get_if<HandOver::RequestSockets>(&*action))
                requests_.push_back(request->worker);
            else if (const auto* const late = std::get_if<HandOver::NoteLate>(&*action))
                late_.push_back(late->worker);
            else if (const auto* const fail = std::get_if<HandOver::Fail>(&*action))
                failures_.push_back(*fail);
            else if (const auto* const kill = std::get_if<HandOver::KillProgram>(&*action))
                kills_.push_back(*kill);
            else if (std::holds_alternative<HandOver::StartProgram>(*action))
                ++starts_;
            else if (std::holds_alternative<HandOver::Announce>(*action))
                ++announcements_;
            else
                ++releases_;
        }
    }
    void pass(Duration time) {
        now_ += time;
        steps_.on_time(now_);
        perform();
    }
    void give(Worker worker) {
        steps_.on_given(worker, now_);
        perform();
    }
    void hand(Worker worker) {
        steps_.on_handed(worker, now_);
        perform();
    }
    void go(Worker worker) {
        steps_.on_gone(worker, now_);
        perform();
    }
    void be_ready() {
        steps_.on_program_ready(now_);
        perform();
    }
    void serve(std::vector<Worker> old) {
        begin(old);
        for (const Worker worker : old)
            give(worker);
        be_ready();
        ASSERT_EQ(steps_.step(), Step::handing);
    }
    void expect_kept(const std::string& why) {
        EXPECT_EQ(steps_.step(), Step::failed);
        ASSERT_EQ(failures_.size(), 1U);
        EXPECT_EQ(failures_[0].sentence, why);
        EXPECT_EQ(steps_.why(), why);
        EXPECT_EQ(announcements_, 0) << "the old processes keep their clients";
        EXPECT_EQ(releases_, 0);
        EXPECT_FALSE(steps_.next_timeout());
    }

    TimePoint now_ = TimePoint() + 100s;
    HandOver steps_;
    std::vector<Worker> requests_;
    std::vector<Worker> late_;
    std::vector<HandOver::Fail> failures_;
    std::vector<HandOver::KillProgram> kills_;
    int starts_ = 0;
    int announcements_ = 0;
    int releases_ = 0;
};

// A process without workers is upgraded.
class SingleHandOverTest : public HandOverTest {
protected:
    SingleHandOverTest() : HandOverTest(Late::wait) {}
};

TEST_F(HandOverTest, IsOverBeforeItBegins) {
    EXPECT_TRUE(steps_.is_over());
    EXPECT_FALSE(steps_.next_timeout());
    EXPECT_FALSE(steps_.poll_action());
    pass(100s);
    EXPECT_TRUE(failures_.empty());
}

TEST_F(HandOverTest, GoesThroughAllSteps) {
    begin({1, 2});
    EXPECT_EQ(requests_, (std::vector<Worker>{1, 2}));
    EXPECT_EQ(steps_.step(), Step::gathering);
    EXPECT_EQ(steps_.next_timeout(), now_ + 10s);
    give(1);
    EXPECT_EQ(starts_, 0) << "the second one has not given";
    give(2);
    EXPECT_EQ(starts_, 1);
    EXPECT_EQ(steps_.step(), Step::starting);
    EXPECT_EQ(steps_.next_timeout(), now_ + 65s);
    be_ready();
    EXPECT_EQ(announcements_, 1);
    EXPECT_EQ(steps_.step(), Step::handing);
    hand(2);
    EXPECT_EQ(releases_, 0);
    EXPECT_TRUE(steps_.has_handed(2));
    EXPECT_FALSE(steps_.has_handed(1));
    hand(1);
    EXPECT_EQ(releases_, 1);
    EXPECT_EQ(steps_.step(), Step::over);
    EXPECT_TRUE(late_.empty());
}

TEST_F(HandOverTest, CanBeginAgainAfterAFailure) {
    begin({1});
    pass(10s);
    expect_kept("the running workers do not give their sockets");
    requests_.clear();
    begin({1});
    EXPECT_EQ(requests_, std::vector<Worker>{1});
    EXPECT_EQ(steps_.why(), "");
    give(1);
    be_ready();
    hand(1);
    EXPECT_EQ(releases_, 1);
}

TEST_F(HandOverTest, WorkersThatDieGiveNothing) {
    begin({1, 2});
    go(1);
    EXPECT_EQ(starts_, 0);
    give(2);
    EXPECT_EQ(starts_, 1);
}

TEST_F(HandOverTest, NewProgramStartsWithoutAnyWorker) {
    begin({1, 2});
    go(1);
    go(2);
    EXPECT_EQ(starts_, 1) << "the new program has workers of its own";
    be_ready();
    EXPECT_EQ(releases_, 1) << "there is nothing to wait for";
}

TEST_F(HandOverTest, BeginsWithoutServingWorkers) {
    begin({});
    EXPECT_EQ(starts_, 1);
}

TEST_F(SingleHandOverTest, ProcessThatDiesIsNotReplaced) {
    begin({1});
    go(1);
    expect_kept("the running process has ended");
    EXPECT_EQ(failures_[0].code, Errc::closed);
    EXPECT_EQ(starts_, 0);
}

TEST_F(SingleHandOverTest, ProcessThatDoesNotGiveKeepsServing) {
    begin({1});
    pass(10s - 1ms);
    EXPECT_FALSE(steps_.is_over());
    pass(1ms);
    expect_kept("the running process does not give its sockets");
    EXPECT_EQ(failures_[0].code, Errc::timed_out);
}

TEST_F(HandOverTest, ProgramThatCannotBeStartedChangesNothing) {
    begin({1});
    give(1);
    steps_.on_start_failed(Error(Errc::not_found, "there is no such file"));
    perform();
    expect_kept("there is no such file");
    EXPECT_EQ(failures_[0].code, Errc::not_found);
    EXPECT_TRUE(kills_.empty());
}

TEST_F(HandOverTest, ProgramThatRefusesChangesNothing) {
    begin({1});
    give(1);
    steps_.on_program_failed("workers was 2 and is 3 now, which needs a restart");
    perform();
    expect_kept("workers was 2 and is 3 now, which needs a restart");
    ASSERT_EQ(kills_.size(), 1U);
    EXPECT_TRUE(kills_[0].may_have_ended);
}

TEST_F(HandOverTest, ProgramThatDiesChangesNothing) {
    begin({1});
    give(1);
    steps_.on_program_ended("was ended by signal 11");
    perform();
    expect_kept("the new program was ended by signal 11 before it served: it has said why on stderr, or in its log");
    EXPECT_TRUE(kills_.empty()) << "it has ended";
}

TEST_F(HandOverTest, ProgramThatDoesNotGetReadyIsKilled) {
    begin({1});
    give(1);
    pass(65s - 1ms);
    EXPECT_FALSE(steps_.is_over());
    pass(1ms);
    expect_kept("the new program does not get ready in time");
    ASSERT_EQ(kills_.size(), 1U);
    EXPECT_FALSE(kills_[0].may_have_ended);
}

TEST_F(HandOverTest, KillComesBeforeTheFailure) {
    begin({1});
    give(1);
    now_ += 65s;
    steps_.on_time(now_);
    EXPECT_TRUE(std::holds_alternative<HandOver::KillProgram>(*steps_.poll_action()));
    EXPECT_TRUE(std::holds_alternative<HandOver::Fail>(*steps_.poll_action()));
    EXPECT_FALSE(steps_.poll_action());
}

TEST_F(HandOverTest, WorkersThatDoNotHandOverAreNoted) {
    serve({1, 2, 3});
    hand(2);
    pass(10s);
    EXPECT_EQ(late_, (std::vector<Worker>{1, 3}));
    EXPECT_EQ(releases_, 1) << "the new program is not held up";
    EXPECT_EQ(steps_.step(), Step::over);
}

TEST_F(SingleHandOverTest, NewProgramServesAlthoughTheOldIsLate) {
    serve({1});
    pass(10s);
    EXPECT_EQ(late_, std::vector<Worker>{1});
    EXPECT_EQ(releases_, 1);
}

TEST_F(HandOverTest, WorkerThatDiesWhileHandingIsNotWaitedFor) {
    serve({1, 2});
    hand(1);
    go(2);
    EXPECT_EQ(releases_, 1);
    EXPECT_TRUE(late_.empty());
    EXPECT_FALSE(steps_.has_handed(2));
}

TEST_F(HandOverTest, DeathOfTheNewProgramAfterItServesIsNoFailure) {
    serve({1});
    steps_.on_program_ended("exited with 1");
    steps_.on_program_failed("too late");
    steps_.on_start_failed(Error(Errc::system, "too late"));
    perform();
    EXPECT_TRUE(failures_.empty()) << "the old processes have stopped taking clients";
    hand(1);
    EXPECT_EQ(releases_, 1);
}

TEST_F(HandOverTest, EventsAfterTheEndAreIgnored) {
    serve({1});
    hand(1);
    give(1);
    hand(1);
    go(1);
    be_ready();
    pass(1'000s);
    EXPECT_EQ(releases_, 1);
    EXPECT_EQ(announcements_, 1);
    EXPECT_TRUE(failures_.empty());
}

TEST_F(HandOverTest, UnknownProcessesAreIgnored) {
    begin({1});
    give(9);
    hand(9);
    go(9);
    EXPECT_EQ(starts_, 0);
    EXPECT_FALSE(steps_.has_handed(9));
}

TEST_F(HandOverTest, HandingBeforeTheProgramServesCountsLater) {
    begin({1});
    hand(1);
    give(1);
    EXPECT_EQ(steps_.step(), Step::starting);
    be_ready();
    EXPECT_EQ(releases_, 1);
}

// Events in any order, at any time.
TEST(HandOverSimulation, EitherServesOrKeepsTheOldProcesses) {
    std::size_t served = 0;
    std::size_t kept = 0;
    for (std::uint64_t seed = 1; seed <= rounds<std::uint64_t>(2'000, 100'000); ++seed) {
        std::mt19937_64 random(seed);
        const auto pick = [&random](unsigned most) { return std::uniform_int_distribution<unsigned>(0, most)(random); };
        const Late late = pick(1) == 0 ? Late::wait : Late::kill;
        HandOver steps(kLimits, late);
        std::vector<Worker> old;
        for (unsigned i = 1; i <= 1 + pick(5); ++i)
            old.push_back(static_cast<Worker>(i));
        TimePoint now = TimePoint() + 10s;
        const TimePoint began = now;
        steps.begin(old, now);
        int starts = 0;
        int announcements = 0;
        int releases = 0;
        int failures = 0;
        while (true) {
            while (const auto action = steps.poll_action()) {
                starts += std::holds_alternative<HandOver::StartProgram>(*action) ? 1 : 0;
                announcements += std::holds_alternative<HandOver::Announce>(*action) ? 1 : 0;
                releases += std::holds_alternative<HandOver::Release>(*action) ? 1 : 0;
                failures += std::holds_alternative<HandOver::Fail>(*action) ? 1 : 0;
                ASSERT_LE(releases, announcements) << "seed " << seed << ": released before it was announced";
                ASSERT_LE(announcements, starts) << "seed " << seed;
            }
            if (steps.is_over())
                break;
            ASSERT_TRUE(steps.next_timeout()) << "seed " << seed;
            const Worker worker = old[pick(static_cast<unsigned>(old.size()) - 1)];
            switch (pick(40)) {
                case 0:
                case 1:
                case 2:
                case 3: steps.on_given(worker, now); break;
                case 4:
                case 5:
                case 6: steps.on_handed(worker, now); break;
                case 7: steps.on_gone(worker, now); break;
                case 8: steps.on_program_ready(now); break;
                case 9: steps.on_program_failed("no"); break;
                case 10: steps.on_program_ended("exited with 1"); break;
                case 11: steps.on_start_failed(Error(Errc::system, "no")); break;
                default: now = std::min(now + std::chrono::milliseconds(pick(3'000)), *steps.next_timeout()); steps.on_time(now);
            }
        }
        EXPECT_LE(now - began, kLimits.gather + kLimits.start + kLimits.hand) << "seed " << seed;
        EXPECT_EQ(releases + failures, 1) << "seed " << seed;
        EXPECT_EQ(announcements, releases) << "seed " << seed;
        served += releases == 1 ? 1 : 0;
        kept += failures == 1 ? 1 : 0;
    }
    EXPECT_GT(served, 50U);
    EXPECT_GT(kept, 200U);
}

}  // namespace
}  // namespace live::supervisor
