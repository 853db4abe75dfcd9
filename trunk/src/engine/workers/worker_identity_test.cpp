#include "engine/workers/worker_identity.hpp"

#include <gtest/gtest.h>

namespace live::engine::workers {
namespace {

TEST(WorkerIdentity, IsNoWorkerByDefault) {
    const WorkerIdentity alone;
    EXPECT_FALSE(alone.is_worker());
    EXPECT_TRUE(alone.is_first());
    EXPECT_EQ(alone.address(), 0);
    EXPECT_FALSE(alone.is_mate(1));
    EXPECT_TRUE(alone.shares_ports_with(1));
}

TEST(WorkerIdentity, AddressesOfOneStartAreConsecutive) {
    const WorkerIdentity second{2, 3, 5};
    EXPECT_EQ(second.address(), 5);
    EXPECT_EQ(second.address_of(1), 4);
    EXPECT_EQ(second.address_of(3), 6);
    EXPECT_FALSE(second.is_first());
    for (int other = 0; other < 20; ++other)
        EXPECT_EQ(second.is_mate(static_cast<Worker>(other)), other >= 4 && other <= 6) << other;
}

TEST(WorkerIdentity, SharesPortsWithTheSameNumberOfOtherStarts) {
    const WorkerIdentity second{2, 3, 5};
    for (int other = 0; other < 20; ++other)
        EXPECT_EQ(second.shares_ports_with(static_cast<Worker>(other)), other != 5 && other % 3 == 2) << other;
}

// A process of an upgrade has an id and no number.
TEST(WorkerIdentity, AddressIsTheIdWithoutANumber) {
    const WorkerIdentity process{0, 0, 5};
    EXPECT_FALSE(process.is_worker());
    EXPECT_EQ(process.address(), 5);
}

}  // namespace
}  // namespace live::engine::workers
