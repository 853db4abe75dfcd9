#include "service/files/release_pace.hpp"

#include <gtest/gtest.h>

#include "base/check.hpp"
#include "io/loop.hpp"
#include "io/scope.hpp"
#include "io/wait_fixture.hpp"

namespace live::service::files {
namespace {

TEST(ReleasePace, PausesBehindEachPortionUntilItIsCancelled) {
    const auto loop = io::Loop::create().value();
    io::Scope scope("test");
    int portions = 0;
    ASSERT_TRUE(scope
                    .start("release",
                           [&portions](io::Deadline deadline) {
                               ReleasePace pace(deadline);
                               for (; portions < 100; ++portions) {
                                   pace.note_freed(ReleasePace::kPortion / 2);
                                   pace.note_freed(ReleasePace::kPortion / 2);
                               }
                           })
                    .ok());
    ASSERT_TRUE(io::yield(io::Deadline::never()).ok());
    EXPECT_EQ(portions, 0);
    io::wait_until([&portions] { return portions > 0; });
    EXPECT_LT(portions, 100);
    EXPECT_TRUE(scope.stop(io::Deadline::after(5s)).ok());
    EXPECT_EQ(portions, 100);
}

}  // namespace
}  // namespace live::service::files
