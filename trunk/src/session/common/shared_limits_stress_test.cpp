// Workers that ask at the same moment, as threads of one process.
#include "engine/workers/shared_limits.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/files/shared_memory.hpp"

namespace live::session {
namespace {

using engine::workers::SharedLimits;
using engine::workers::Worker;

struct Race {
    static constexpr Worker kWorkers = 3;
    static constexpr std::size_t kBound = 10;

    void run(Worker worker) {
        SharedLimits shared_limits(memory->bytes(), kWorkers, worker, {});
        const std::array<std::uint8_t, 16> stranger{1};
        std::size_t own = 0;
        const auto leave = [&] {
            --own;
            --at_once;
            shared_limits.leave(0, stranger);
        };
        for (int i = 0; i < 30'000; ++i) {
            if (shared_limits.enter(0, stranger, own, kBound)) {
                ++own;
                const std::size_t all = ++at_once;
                for (std::size_t before = most; before < all && !most.compare_exchange_weak(before, all);) {
                }
            }
            paid += shared_limits.try_charge(0, stranger, {1ms, 100ms}, TimePoint() + 1h) ? 1 : 0;
            if (own > 0 && i % 2 == 0)
                leave();
        }
        while (own > 0)
            leave();
    }

    std::unique_ptr<io::SharedMemory> memory = MUST(io::SharedMemory::create(SharedLimits::bytes_for(kWorkers)));
    std::atomic<std::size_t> at_once = 0;
    std::atomic<std::size_t> most = 0;
    std::atomic<std::size_t> paid = 0;
};

TEST(SharedLimitsStress, NoWorkerSeesRoomThatAnotherHasTaken) {
    const auto loop = MUST(io::Loop::create());
    const auto race = std::make_shared<Race>();
    io::Scope fibers("worker");
    for (Worker worker = 1; worker <= Race::kWorkers; ++worker)
        MUST(fibers.start("worker", [race, worker](io::Deadline forever) {
            EXPECT_TRUE(io::off_loop([race, worker] { race->run(worker); }, forever).ok());
        }));
    MUST(fibers.join(io::Deadline::after(60s)));
    EXPECT_LE(race->most, Race::kBound);
    EXPECT_EQ(race->paid, 100U);
    SharedLimits all(race->memory->bytes(), Race::kWorkers, 1, {});
    EXPECT_TRUE(all.enter(0, std::array<std::uint8_t, 16>{1}, 0, 1)) << "all is given back";
}

}  // namespace
}  // namespace live::session
