#include "io/fibers/turns.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/spin_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

using Rank = TurnOrder::Rank;

class TurnsTest : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    TurnState state_;
    Turns turns_{state_};
};

TEST_F(TurnsTest, OneFiberAtATimeHasATurn) {
    Scope scope("test");
    std::string order;
    int inside = 0;
    const auto start = [&](char name, Rank rank) {
        MUST(scope.start("test", [&, name, rank](Deadline) {
            const auto turn = MUST(turns_.take(rank, Deadline::after(kSoon)));
            EXPECT_EQ(++inside, 1);
            order += name;
            --inside;
        }));
    };
    {
        const auto turn = MUST(turns_.take(Rank::first, Deadline::after(kSoon)));
        start('a', Rank::third);
        start('b', Rank::second);
        start('c', Rank::first);
        MUST(yield(Deadline::never()));
        EXPECT_EQ(turns_.waiting(), 3U);
        EXPECT_EQ(order, "");
    }
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(order, "cba");
}

TEST_F(TurnsTest, OneThatGivesUpLeavesItsPlace) {
    std::optional<Turns::Turn> turn(MUST(turns_.take(Rank::first, Deadline::after(kSoon))));
    EXPECT_EQ(turns_.take(Rank::first, Deadline::after(1ms)).code(), Errc::timed_out);
    Scope scope("test");
    MUST(scope.start("cancelled",
                     [&](Deadline forever) { EXPECT_EQ(turns_.take(Rank::second, forever).code(), Errc::cancelled); }));
    MUST(yield(Deadline::never()));
    EXPECT_EQ(turns_.waiting(), 1U);
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(turns_.waiting(), 0U);
    turn.reset();
    EXPECT_TRUE(turns_.take(Rank::third, Deadline::after(kSoon)).ok());
    EXPECT_TRUE(turns_.take(Rank::third, Deadline::after(kSoon)).ok()) << "the turn before has ended";
}

TEST_F(TurnsTest, OneThatIsCancelledAtTheMomentOfItsTurnPassesItOn) {
    std::optional<Turns::Turn> turn(MUST(turns_.take(Rank::first, Deadline::after(kSoon))));
    Scope scope("test");
    bool is_waiting = false;
    MUST(scope.start("cancelled", [&](Deadline forever) {
        spin(std::chrono::milliseconds(20));  // so that its next wait yields at once
        is_waiting = true;
        EXPECT_EQ(turns_.take(Rank::second, forever).code(), Errc::cancelled);
    }));
    while (!is_waiting)
        MUST(yield(Deadline::never()));
    turn.reset();  // grants it
    EXPECT_EQ(turns_.waiting(), 0U);
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(turns_.waiting(), 0U);
    EXPECT_TRUE(turns_.take(Rank::third, Deadline::after(kSoon)).ok());
}

// Much work of this kind takes a share of the loop.
TEST_F(TurnsTest, OtherFibersRunWhenTheBudgetIsSpent) {
    constexpr int kWorkers = 30;
    Scope scope("test");
    int done = 0;
    for (int i = 0; i < kWorkers; ++i)
        MUST(scope.start("work", [&](Deadline) {
            const auto turn = MUST(turns_.take(Rank::second, Deadline::after(kSoon)));
            spin(std::chrono::microseconds(Turns::kBudget) / 2);
            ++done;
        }));
    int runs = 0;
    MUST(scope.start("other", [&](Deadline forever) {
        while (done < kWorkers) {
            ++runs;
            MUST(yield(forever));
        }
    }));
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_GE(runs, kWorkers / 3);
}

}  // namespace
}  // namespace live::io
