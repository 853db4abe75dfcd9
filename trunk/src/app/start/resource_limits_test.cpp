#include "app/start/resource_limits.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

namespace live::app {
namespace {

TEST(FitConnections, ClampsToTheOpenFilesLimit) {
    struct Wish {
        std::uint32_t wanted;
        std::uint64_t limit;
        std::uint32_t fits;
        bool warns;
    };
    const Wish cases[] = {
        {1000, 1128, 1000, false},
        {1000, 1127, 999, true},
        // The guides: ulimit -HSn 10240 and max_connections 10240.
        {10'240, 10'240, 10'112, true},
        {1000, std::numeric_limits<std::uint64_t>::max(), 1000, false},
        {1000, 129, 1, true},
        {1, 129, 1, false},
        {1000, 128, 1, true},
        {1000, 0, 1, true},
    };
    for (const Wish& one : cases) {
        const ConnectionsLimit limit = fit_connections(one.wanted, one.limit);
        EXPECT_EQ(limit.max_connections, one.fits) << one.wanted << " of " << one.limit;
        EXPECT_EQ(!limit.warning.empty(), one.warns) << limit.warning;
    }
    const std::string warning = fit_connections(10'240, 10'240).warning;
    EXPECT_NE(warning.find("10240"), std::string::npos);
    EXPECT_NE(warning.find("10112"), std::string::npos);
}

TEST(OpenFilesLimit, IsRaisedToTheHardLimit) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit low{std::min<rlim_t>(256, before.rlim_max), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    EXPECT_EQ(MUST(raise_open_files_limit()), before.rlim_max);
    rlimit after{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
    EXPECT_EQ(after.rlim_cur, before.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(CoreDumps, ArePermittedAsFarAsTheHardLimit) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
    EXPECT_TRUE(permit_core_dumps().ok());
    rlimit after{};
    ASSERT_EQ(::getrlimit(RLIMIT_CORE, &after), 0);
    EXPECT_EQ(after.rlim_cur, before.rlim_max);
    ::setrlimit(RLIMIT_CORE, &before);
}

}  // namespace
}  // namespace live::app
