#include "supervisor/line/start_variables.hpp"

#include <gtest/gtest.h>

#include "engine/workers/message.hpp"

namespace live::supervisor {
namespace {

using engine::workers::WorkerIdentity;

config::Environment environment_of(const std::string& entry) {
    const std::size_t at = entry.find('=');
    return {{entry.substr(0, at), entry.substr(at + 1)}};
}

StartedBy worker_of(const std::string& value) { return started_by({{std::string(kWorkerVariable), value}}); }
StartedBy successor_of(const std::string& value) { return started_by({{std::string(kSuccessorVariable), value}}); }

TEST(StartVariables, WorkerReadsTheEntryOfItsMaster) {
    const StartedBy read = started_by(environment_of(worker_variable({2, 3, 5}, "a/b")));
    EXPECT_EQ(read.identity.number, 2);
    EXPECT_EQ(read.identity.count, 3);
    EXPECT_EQ(read.identity.id, 5);
    EXPECT_EQ(read.secret, "a/b");
    EXPECT_EQ(read.predecessor_version, 0U);
}

TEST(StartVariables, IdDefaultsToTheNumber) {
    const StartedBy read = started_by(environment_of(worker_variable({2, 3}, "x")));
    EXPECT_EQ(read.identity.id, 2);
}

TEST(StartVariables, EveryWorkerOfEveryStartIsReadAsWritten) {
    using engine::workers::Worker;
    for (const unsigned count : {1U, 2U, 3U, 64U})
        for (unsigned base = 0; base + count <= engine::workers::kMembersMax; base += count)
            for (unsigned number = 1; number <= count; ++number) {
                const WorkerIdentity written{static_cast<Worker>(number), static_cast<Worker>(count),
                                             static_cast<Worker>(base + number)};
                const StartedBy read = started_by(environment_of(worker_variable(written, "s")));
                ASSERT_EQ(read.identity.number, written.number);
                ASSERT_EQ(read.identity.count, written.count);
                ASSERT_EQ(read.identity.id, written.id);
            }
}

TEST(StartVariables, MalformedWorkersAreIgnored) {
    for (const char* text : {"", "2", "2/3", "2/3/2", "2/3/2/", "0/3/3/x", "4/3/4/x", "2/65/2/x", "x/3/2/x", "2/x/2/x",
                             "-1/3/2/x", "2/3/1/x", "2/3/4/x", "2/3/0/x", "2/3/194/x", "2/3/x/x"})
        EXPECT_FALSE(worker_of(text).identity.is_worker()) << text;
}

TEST(StartVariables, SuccessorReadsTheEntryOfTheRunningProcess) {
    const StartedBy read = started_by(environment_of(successor_variable("a/b")));
    EXPECT_EQ(read.predecessor_version, engine::workers::kSpoken);
    EXPECT_EQ(read.secret, "a/b");
    EXPECT_FALSE(read.identity.is_worker());
}

// The new program refuses the version itself, with a sentence for the operator.
TEST(StartVariables, OtherVersionsAreKept) { EXPECT_EQ(successor_of("7/x").predecessor_version, 7U); }

TEST(StartVariables, MalformedSuccessorsAreIgnored) {
    for (const char* text : {"", "1", "1/", "0/x", "x/x", "/x", "-1/x", "99999999999/x"})
        EXPECT_EQ(successor_of(text).predecessor_version, 0U) << text;
}

TEST(StartVariables, WorkerTakesPrecedence) {
    const StartedBy read =
        started_by({{std::string(kWorkerVariable), "1/2/1/worker"}, {std::string(kSuccessorVariable), "1/successor"}});
    EXPECT_TRUE(read.identity.is_worker());
    EXPECT_EQ(read.predecessor_version, 0U);
    EXPECT_EQ(read.secret, "worker");
}

TEST(StartVariables, NothingIsSetInAnOrdinaryStart) {
    const StartedBy read = started_by({{"PATH", "/bin"}});
    EXPECT_FALSE(read.identity.is_worker());
    EXPECT_EQ(read.predecessor_version, 0U);
    EXPECT_EQ(read.secret, "");
}

}  // namespace
}  // namespace live::supervisor
