#include "io/fibers/job_list.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

using namespace std::chrono_literals;

struct Counts {
    int alive = 0;
    int cancelled = 0;
    int returned = 0;
};

// Runs until it is cancelled, or until `until` is raised.
class Waiting {
public:
    Waiting(Counts& counts, int id, Signal& until) : counts_(counts), until_(until), id_(id) { ++counts_.alive; }
    ~Waiting() { --counts_.alive; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    void run(Deadline deadline) {
        counts_.cancelled += wait(until_, deadline).ok() ? 0 : 1;
        ++counts_.returned;
    }
    int id() const { return id_; }

private:
    Counts& counts_;
    Signal& until_;
    int id_;
};

// Has end(), which JobList calls instead of a cancel.
class Asked {
public:
    explicit Asked(Counts& counts) : counts_(counts) {}

    void run(Deadline deadline) {
        counts_.cancelled += wait(asked_, deadline).ok() ? 0 : 1;
        ++counts_.returned;
    }
    void end() { asked_.raise(); }

private:
    Counts& counts_;
    Signal asked_;
};

struct JobListTest : ::testing::Test {
    static auto is(int id) {
        return [id](const Waiting& one) { return one.id() == id; };
    }

    std::unique_ptr<Loop> loop = MUST(Loop::create());
    Counts counts;
    Signal first_may_end, second_may_end;
    JobList<Waiting> jobs{"test"};
};

TEST_F(JobListTest, EndsOneJobOnly) {
    MUST(jobs.start(counts, 1, first_may_end));
    MUST(jobs.start(counts, 2, second_may_end));
    EXPECT_EQ(jobs.size(), 2U);
    jobs.end_if(is(1));
    EXPECT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs.find(is(1)), nullptr);
    EXPECT_NE(jobs.find(is(2)), nullptr);
    int seen = 0;
    jobs.for_each([&seen](const Waiting&) { ++seen; });
    EXPECT_EQ(seen, 2) << "it has not returned yet";
    MUST(jobs.join_ended(Deadline::after(kSoon)));
    EXPECT_EQ(counts.cancelled, 1);
    EXPECT_EQ(counts.alive, 1);
    MUST(jobs.stop(Deadline::after(kSoon)));
    EXPECT_EQ(counts.cancelled, 2);
    EXPECT_EQ(counts.alive, 0);
}

TEST_F(JobListTest, WorkThatReturnsByItselfIsDestroyedAtOnce) {
    MUST(jobs.start(counts, 1, first_may_end));
    first_may_end.raise();
    wait_until([this] { return counts.returned == 1; });
    EXPECT_EQ(counts.alive, 0) << "it may hold a stream";
    EXPECT_EQ(counts.cancelled, 0);
    EXPECT_EQ(jobs.size(), 0U);
    jobs.reap();
    MUST(jobs.stop(Deadline::after(kSoon)));
}

TEST_F(JobListTest, StartsNothingAfterAStop) {
    MUST(jobs.stop(Deadline::after(kSoon)));
    EXPECT_EQ(jobs.start(counts, 1, first_may_end).code(), Errc::cancelled);
    EXPECT_EQ(counts.alive, 0);
    EXPECT_TRUE(jobs.is_stopping());
}

TEST_F(JobListTest, FinishesInsteadOfCancellingStoppableWork) {
    JobList<Asked> asked("test");
    MUST(asked.start(counts));
    MUST(yield(Deadline::never()));
    asked.end_all();
    MUST(asked.join_ended(Deadline::after(kSoon)));
    EXPECT_EQ(counts.returned, 1);
    EXPECT_EQ(counts.cancelled, 0);
    MUST(asked.stop(Deadline::after(kSoon)));
}

}  // namespace
}  // namespace live::io
