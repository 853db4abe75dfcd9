#include "io/files/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"

namespace live::io {
namespace {

struct SharedMemoryTest : ::testing::Test {
    std::unique_ptr<Loop> loop = MUST(Loop::create());
};

TEST_F(SharedMemoryTest, IsSharedByAllMappings) {
    const auto mine = MUST(SharedMemory::create(10'000));
    EXPECT_EQ(mine->bytes().size(), 10'000U);
    EXPECT_EQ(mine->bytes()[9'999], 0);
    const auto theirs = MUST(SharedMemory::adopt(MUST(mine->handle()), 10'000));
    theirs->bytes()[9'999] = 7;
    EXPECT_EQ(mine->bytes()[9'999], 7);
}

TEST_F(SharedMemoryTest, ItsSizeCannotShrink) {
    const auto mine = MUST(SharedMemory::create(10'000));
    const Socket handle = MUST(mine->handle());
    EXPECT_NE(::ftruncate(handle.fd(), 0), 0);
    EXPECT_FALSE(SharedMemory::adopt(MUST(mine->handle()), 20'000).ok()) << "it is smaller";
}

TEST_F(SharedMemoryTest, RefusesMemoryThatCanShrink) {
    Socket file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(::ftruncate(file.fd(), 10'000), 0);
    EXPECT_FALSE(SharedMemory::adopt(std::move(file), 10'000).ok());
    Socket null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    EXPECT_FALSE(SharedMemory::adopt(std::move(null), 10).ok());
    EXPECT_FALSE(SharedMemory::adopt(Socket(), 10).ok());
}

}  // namespace
}  // namespace live::io
