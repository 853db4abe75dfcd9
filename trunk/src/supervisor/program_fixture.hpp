// For tests that start processes: the test program itself is what they start. It then runs SupervisedProgram.DISABLED_Run
// (supervised_program_test.cpp), which follows the plan in the variable kPlanVariable.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "base/net/endpoint.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/udp_socket.hpp"
#include "io/process/inheritance.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/process/started_as.hpp"

namespace live::supervisor {

inline constexpr const char* kPlanVariable = "LIVE_TEST_PROGRAM";

inline StartedAs test_program() {
    return {
        {"/proc/self/exe", "--gtest_filter=SupervisedProgram.DISABLED_Run", "--gtest_also_run_disabled_tests", "--gtest_brief=1"},
        -1};
}

class ProgramFixture : public testing::Test {
protected:
    ProgramFixture() {
        // Else the program runs its test only in one of the shards that this one is a part of.
        ::unsetenv("GTEST_TOTAL_SHARDS");
        ::unsetenv("GTEST_SHARD_INDEX");
    }
    ~ProgramFixture() override { ::unsetenv(kPlanVariable); }

    // Plans: "serve", "die", "fail", "mute", "serve and die once FILE".
    void plan(const std::string& text) { ::setenv(kPlanVariable, text.c_str(), 1); }
    static engine::workers::Message receive(MasterLine& line) {
        return MUST(line.next("nothing came", io::Deadline::after(io::kSoon))).message;
    }
    // The next message of that kind.
    static engine::workers::Message receive(MasterLine& line, engine::workers::Kind kind) {
        for (;;)
            if (auto message = receive(line); message.kind == kind)
                return message;
    }

    // Sends copies of this process's sockets, of which it has one.
    static void give_sockets(MasterLine& line) {
        const auto socket = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 0));
        for (io::BoundSocket& bound : io::copies_of_bound_sockets())
            EXPECT_TRUE(line.send({engine::workers::Kind::gift, 0, 0, 0, 0, bound.name}, std::move(bound.copy)));
        EXPECT_TRUE(line.send({engine::workers::Kind::given}));
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
};

}  // namespace live::supervisor
