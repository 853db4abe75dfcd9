#include "supervisor/decisions/drain_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/rounds_fixture.hpp"

namespace live::supervisor {
namespace {

using std::chrono::milliseconds;
using Verdict = DrainPlan::Verdict;
using Way = DrainPlan::Way;

TEST(DrainPlan, SessionsEndInTheLastQuarterAndNotAtOnce) {
    for (const milliseconds limit : {1s, 20s, 3'600s}) {
        std::size_t left = 500;
        std::size_t most = 0;
        for (milliseconds at{}; at < limit; at += DrainPlan::kStep) {
            const std::size_t now = ending_now(left, limit - at, limit);
            if (at < limit - limit / DrainPlan::kLastPart) {
                EXPECT_EQ(now, 0U);
            }
            most = std::max(most, now);
            ASSERT_LE(now, left);
            left -= now;
        }
        EXPECT_EQ(left, 0U);
        const auto steps = static_cast<std::size_t>(limit / DrainPlan::kLastPart / DrainPlan::kStep);
        EXPECT_LE(most, 500 / steps + 1) << "no more at once than necessary";
    }
}

// The loop is late.
TEST(DrainPlan, AllSessionsEndAtTheLimit) {
    EXPECT_EQ(ending_now(7, 1ms, 20s), 7U);
    EXPECT_EQ(ending_now(7, -5s, 20s), 7U);
    EXPECT_EQ(ending_now(0, 1ms, 20s), 0U);
}

TEST(DrainPlan, NothingHasBegunAtFirst) {
    const DrainPlan plan;
    EXPECT_FALSE(plan.has_begun());
    EXPECT_EQ(plan.lasted(TimePoint() + 50s), 0ms);
    EXPECT_EQ(plan.asked(), 0U);
}

TEST(DrainPlan, LimitIsCountedFromTheBeginning) {
    DrainPlan plan;
    const TimePoint now = TimePoint() + 100s;
    plan.begin(20s, now);
    EXPECT_TRUE(plan.has_begun());
    EXPECT_EQ(plan.limit(), 20s);
    EXPECT_EQ(plan.lasted(now + 5s), 5s);
    EXPECT_FALSE(plan.is_late(now + 20s - 1ms));
    EXPECT_TRUE(plan.is_late(now + 20s));
}

TEST(DrainPlan, DrainWithoutLimitIsLateAtOnce) {
    DrainPlan plan;
    plan.begin(0ms, TimePoint() + 100s);
    EXPECT_TRUE(plan.is_late(TimePoint() + 100s));
}

TEST(DrainPlan, ClientIsAskedOnce) {
    DrainPlan plan;
    plan.begin(20s, TimePoint());
    plan.begin_step();
    EXPECT_EQ(plan.consider("a", Way::ask), Verdict::ask);
    plan.note_asked("a");
    plan.end_step();
    for (int i = 0; i < 3; ++i) {
        plan.begin_step();
        EXPECT_EQ(plan.consider("a", Way::ask), Verdict::nothing);
        plan.end_step();
    }
    EXPECT_EQ(plan.asked(), 1U);
}

TEST(DrainPlan, ClientThatRefusesIsAskedAgain) {
    DrainPlan plan;
    plan.begin(20s, TimePoint());
    for (int i = 0; i < 3; ++i) {
        plan.begin_step();
        EXPECT_EQ(plan.consider("a", Way::ask), Verdict::ask) << "there may be another node now";
        plan.end_step();
    }
    EXPECT_EQ(plan.asked(), 0U);
}

TEST(DrainPlan, OneStepAsksABoundedNumber) {
    DrainPlan plan;
    plan.begin(20s, TimePoint());
    for (std::size_t step = 1; step <= 3; ++step) {
        plan.begin_step();
        std::size_t asked = 0;
        for (std::size_t i = 0; i < 250; ++i)
            if (plan.consider(std::to_string(i), Way::ask) == Verdict::ask) {
                plan.note_asked(std::to_string(i));
                ++asked;
            }
        plan.end_step();
        EXPECT_EQ(asked, step < 3 ? DrainPlan::kAskedAtOnce : 50) << step;
    }
    EXPECT_EQ(plan.asked(), 250U);
}

// An id that comes back is another connection.
TEST(DrainPlan, ClientsThatHaveLeftAreForgotten) {
    DrainPlan plan;
    plan.begin(20s, TimePoint());
    plan.begin_step();
    plan.note_asked("a");
    plan.end_step();
    plan.begin_step();
    plan.end_step();
    plan.begin_step();
    EXPECT_EQ(plan.consider("a", Way::ask), Verdict::ask);
    plan.end_step();
}

TEST(DrainPlan, SessionsAreNotAsked) {
    DrainPlan plan;
    plan.begin(20s, TimePoint());
    plan.begin_step();
    EXPECT_EQ(plan.consider("a", Way::end), Verdict::end);
    EXPECT_EQ(plan.sessions_to_end(1, TimePoint() + 1s), 0U) << "its time has not come";
    EXPECT_EQ(plan.sessions_to_end(1, TimePoint() + 20s - 1ms), 1U);
    plan.note_asked("a");
    plan.end_step();
    plan.begin_step();
    EXPECT_EQ(plan.consider("a", Way::end), Verdict::nothing) << "it is being closed";
    plan.end_step();
}

// A server with clients of all kinds: some leave at once, some late, some never; new ones arrive.
TEST(DrainPlan, EmptiesAServerOfClientsThatObey) {
    for (std::uint64_t seed = 1; seed <= rounds<std::uint64_t>(20, 2'000); ++seed) {
        std::mt19937_64 random(seed);
        const auto pick = [&random](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
        struct Client {
            Way way = Way::ask;
            bool obeys = true;
            int asked = 0;
            TimePoint leaves = TimePoint::max();
        };
        std::map<std::string, Client> clients;
        int next = 0;
        std::size_t disobedient = 0;
        const auto arrive = [&](int count) {
            for (int i = 0; i < count; ++i) {
                Client client{pick(0, 3) == 0 ? Way::end : Way::ask, pick(0, 9) != 0, 0, TimePoint::max()};
                client.obeys = client.obeys || client.way == Way::end;
                disobedient += client.obeys ? 0 : 1;
                clients.emplace(std::to_string(next++), client);
            }
        };
        arrive(pick(1, 600));
        const milliseconds limit = 1s * pick(10, 60);
        TimePoint now = TimePoint() + 1'000s;
        const TimePoint began = now;
        DrainPlan plan;
        plan.begin(limit, now);
        std::size_t asked_before = 0;
        while (!plan.is_late(now)) {
            if (now - began < limit / 2 && pick(0, 5) == 0)
                arrive(1);
            std::vector<std::string> sessions;
            std::size_t asked = 0;
            const auto tell = [&](const std::string& id) {
                Client& client = clients.at(id);
                plan.note_asked(id);
                EXPECT_EQ(++client.asked, 1) << "seed " << seed << ": client " << id;
                if (client.obeys)
                    client.leaves = now + milliseconds(pick(0, 2'000));
            };
            plan.begin_step();
            for (const auto& [id, client] : clients) {
                const Verdict verdict = plan.consider(id, client.way);
                if (verdict == Verdict::end)
                    sessions.push_back(id);
                if (verdict == Verdict::ask) {
                    tell(id);
                    ++asked;
                }
            }
            const std::size_t ending = plan.sessions_to_end(sessions.size(), now);
            for (std::size_t i = 0; i < ending; ++i) {
                EXPECT_GE(now - began, limit - limit / DrainPlan::kLastPart) << "seed " << seed;
                tell(sessions[i]);
                clients.at(sessions[i]).leaves = now;
            }
            plan.end_step();
            EXPECT_LE(asked, DrainPlan::kAskedAtOnce) << "seed " << seed;
            EXPECT_EQ(plan.asked() - asked_before, asked + ending) << "seed " << seed;
            asked_before = plan.asked();
            std::erase_if(clients, [now](const auto& one) { return one.second.leaves <= now; });
            now += DrainPlan::kStep;
        }
        EXPECT_EQ(clients.size(), disobedient) << "seed " << seed << ": only those are left that do not leave";
    }
}

}  // namespace
}  // namespace live::supervisor
