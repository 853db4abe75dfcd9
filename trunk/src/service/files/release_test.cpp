#include "service/files/release.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/loop.hpp"
#include "io/wait_fixture.hpp"

namespace live::service::files {
namespace {

using namespace std::chrono_literals;

// Records which thread frees it.
Block watched(std::atomic<int>& freed_in) {
    static const std::vector<std::uint8_t> bytes(100);
    return {std::shared_ptr<void>(nullptr, [&freed_in](void*) { freed_in = ::gettid(); }), &bytes};
}

TEST(Release, AWorkerFreesWhatNobodyElseOwns) {
    const auto loop = MUST(io::Loop::create());
    std::atomic<int> alone = 0;
    std::atomic<int> shared = 0;
    Block mine = watched(shared);
    // Moved in: a copy in an initializer list would live until after the call.
    std::vector<Block> blocks;
    blocks.push_back(watched(alone));
    blocks.push_back(mine);
    release(std::move(blocks));
    io::wait_until([&] { return alone != 0; });
    EXPECT_NE(alone, ::gettid());
    MUST(io::sleep(io::Deadline::after(20ms)));
    EXPECT_EQ(shared, 0);
    mine.reset();
    EXPECT_EQ(shared, ::gettid());
}

}  // namespace
}  // namespace live::service::files
