#include "io/fibers/off_loop.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes/block.hpp"
#include "base/bytes/bytes.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/resolve.hpp"

namespace live::io {
namespace {

// A job that occupies its thread until it is released.
auto busy_until(std::shared_ptr<std::atomic<bool>> go) {
    return [go = std::move(go)] {
        while (!go->load())
            std::this_thread::yield();
        return true;
    };
}

class OffLoopTest : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

TEST_F(OffLoopTest, ReturnsTheResultOfTheFunction) {
    const auto loop_thread = std::this_thread::get_id();
    EXPECT_NE(MUST(off_loop([] { return std::this_thread::get_id(); }, Deadline::after(kSoon))), loop_thread);
    EXPECT_EQ(MUST(off_loop([] { return Result<int>(7); }, Deadline::after(kSoon))), 7);
    EXPECT_EQ(off_loop([] { return Result<int>(Error(Errc::denied, "no")); }, Deadline::after(kSoon)).code(), Errc::denied);
    EXPECT_TRUE(off_loop([] { return Result<void>(); }, Deadline::after(kSoon)).ok());
    EXPECT_EQ(*MUST(off_loop([] { return std::make_unique<int>(3); }, Deadline::after(kSoon))), 3);
}

TEST_F(OffLoopTest, DoesNotHoldTheLoop) {
    Scope scope("test");
    // Shared because the worker owns what it touches.
    const auto go = std::make_shared<std::atomic<bool>>(false);
    MUST(scope.start("other", [go](Deadline) { go->store(true); }));
    MUST(off_loop(
        [go] {
            while (!go->load())
                std::this_thread::yield();
            return true;
        },
        Deadline::after(kSoon)));
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(OffLoopTest, ADeadlineEndsTheWaitNotTheWork) {
    const auto started = std::make_shared<std::atomic<bool>>(false);
    const auto go = std::make_shared<std::atomic<bool>>(false);
    const auto finished = std::make_shared<std::atomic<bool>>(false);
    // A job that has not started when its deadline passes is never run, so this repeats until one has.
    while (!started->load()) {
        const auto outcome = off_loop(
            [started, go, finished] {
                started->store(true);
                while (!go->load())
                    std::this_thread::yield();
                finished->store(true);
                return 1;
            },
            Deadline::after(2ms));
        EXPECT_EQ(outcome.code(), Errc::timed_out);
    }
    go->store(true);
    loop_.reset();  // joins
    EXPECT_TRUE(finished->load());
    loop_ = MUST(Loop::create());
    EXPECT_EQ(MUST(off_loop([] { return 5; }, Deadline::after(kSoon))), 5);
}

TEST_F(OffLoopTest, ACancelEndsTheWait) {
    Scope scope("test");
    const auto go = std::make_shared<std::atomic<bool>>(false);
    Errc end = Errc::system;
    MUST(scope.start("waits", [&, go](Deadline) {
        end = off_loop(
                  [go] {
                      while (!go->load())
                          std::this_thread::yield();
                      return 1;
                  },
                  Deadline::never())
                  .code();
    }));
    MUST(yield(Deadline::never()));
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::cancelled);
    go->store(true);
}

TEST_F(OffLoopTest, HangingRemoteWorkLeavesThreadsForLocalWork) {
    Scope scope("test");
    const auto go = std::make_shared<std::atomic<bool>>(false);
    std::size_t done = 0;
    constexpr std::size_t kJobs = WorkerPool::kThreads[1] + 3;
    for (std::size_t i = 0; i < kJobs; ++i)
        MUST(scope.start("remote", [&, go](Deadline) {
            done += off_loop(
                        [go] {
                            while (!go->load())
                                std::this_thread::yield();
                            return true;
                        },
                        Deadline::after(kSoon), Work::remote)
                            .ok()
                        ? 1
                        : 0;
        }));
    MUST(yield(Deadline::never()));
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(MUST(off_loop([i] { return i; }, Deadline::after(kSoon))), i);
    EXPECT_EQ(done, 0U);
    go->store(true);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(done, kJobs);
}

// As when every name sent by strangers makes the resolver hang.
TEST_F(OffLoopTest, HangingWorkOfStrangersIsBoundedAndDelaysNoOther) {
    Scope scope("test");
    const auto go = std::make_shared<std::atomic<bool>>(false);
    std::size_t refused = 0;
    std::size_t done = 0;
    constexpr auto kKind = static_cast<std::size_t>(Work::stranger);
    constexpr std::size_t kJobs = WorkerPool::kQueuedMax[kKind] + WorkerPool::kThreads[kKind] + 50;
    for (std::size_t i = 0; i < kJobs; ++i)
        MUST(scope.start("stranger", [&, go](Deadline) {
            const auto outcome = off_loop(busy_until(go), Deadline::after(kSoon), Work::stranger);
            if (outcome.ok())
                ++done;
            else if (outcome.code() == Errc::limit)
                ++refused;
        }));
    MUST(yield(Deadline::never()));
    EXPECT_GE(refused, 50U);
    for (const Work work : {Work::remote, Work::local})
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(MUST(off_loop([i] { return i; }, Deadline::after(kSoon), work)), i);
    EXPECT_EQ(done, 0U);
    go->store(true);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(done + refused, kJobs);
}

TEST_F(OffLoopTest, RefusesJobsAboveTheQueueLimit) {
    Scope scope("test");
    const auto go = std::make_shared<std::atomic<bool>>(false);
    std::size_t refused = 0;
    std::size_t done = 0;
    constexpr std::size_t kJobs = WorkerPool::kQueuedMax[0] + WorkerPool::kThreads[0] + 50;
    for (std::size_t i = 0; i < kJobs; ++i)
        MUST(scope.start("job", [&, go](Deadline) {
            const auto outcome = off_loop(busy_until(go), Deadline::after(kSoon));
            if (outcome.ok())
                ++done;
            else if (outcome.code() == Errc::limit)
                ++refused;
        }));
    MUST(yield(Deadline::never()));
    EXPECT_GE(refused, 50U);
    go->store(true);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(done + refused, kJobs);
}

// Records which thread frees it.
std::shared_ptr<void> watched(std::atomic<int>& freed_in) {
    return {nullptr, [&freed_in](void*) { freed_in = ::gettid(); }};
}

TEST_F(OffLoopTest, WorkerReleasesTheLastReference) {
    std::atomic<int> alone = 0;
    std::atomic<int> shared = 0;
    std::shared_ptr<void> mine = watched(shared);
    // Moved in: a copy in an initializer list would live until after the call.
    std::vector<std::shared_ptr<void>> owned;
    owned.push_back(watched(alone));
    owned.push_back(mine);
    free_off_loop(std::move(owned));
    wait_until([&] { return alone != 0; });
    EXPECT_NE(alone, ::gettid());
    MUST(sleep(Deadline::after(20ms)));
    EXPECT_EQ(shared, 0);
    mine.reset();
    EXPECT_EQ(shared, ::gettid());
}

TEST_F(OffLoopTest, CountsMemoryBeingFreed) {
    std::atomic<bool> may_free = false;
    const std::vector<std::uint8_t> bytes(1'000);
    const auto wait = [&may_free](const auto*) {
        while (!may_free)
            std::this_thread::yield();
    };
    std::vector<Block> owned;
    owned.emplace_back(&bytes, wait);
    free_off_loop(std::move(owned));
    std::vector<Slice> slices;
    slices.push_back(Slice::allocate(2 * Slice::kOwnPagesMin));
    const std::size_t of_slice = slices[0].memory_bytes();
    free_off_loop(std::move(slices), Work::compute);
    wait_until([] { return bytes_being_freed() == 1'000; });
    EXPECT_GE(of_slice, 2 * Slice::kOwnPagesMin);
    may_free = true;
    wait_until([] { return bytes_being_freed() == 0; });
}

TEST_F(OffLoopTest, AddressesAreResolvedAtOnce) {
    EXPECT_EQ(MUST(resolve("10.1.2.3", 1935, Deadline::never())), (std::vector<Endpoint>{{"10.1.2.3", 1935}}));
    EXPECT_EQ(MUST(resolve("::1", 80, Deadline::never())), (std::vector<Endpoint>{{"::1", 80}}));
}

TEST_F(OffLoopTest, TheLocalNameIsResolvedInAWorker) {
    const auto found = MUST(resolve("localhost", 8080, Deadline::after(kSoon)));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().port, 8080);
}

TEST_F(OffLoopTest, NamesThatCannotBeAreRefused) {
    EXPECT_EQ(resolve("", 80, Deadline::never()).code(), Errc::malformed);
    EXPECT_EQ(resolve(std::string(254, 'a'), 80, Deadline::never()).code(), Errc::malformed);
    EXPECT_EQ(resolve(std::string("a\0b", 3), 80, Deadline::never()).code(), Errc::malformed);
}

}  // namespace
}  // namespace live::io
