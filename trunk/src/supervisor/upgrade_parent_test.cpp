#include "supervisor/upgrade_parent.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include <unistd.h>

#include "supervisor/program_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Message;

// The test is the process that is upgraded; the programs are real ones.
class UpgradeParentTest : public ProgramFixture {
protected:
    UpgradeParentTest() { join(); }
    ~UpgradeParentTest() override {
        if (parent_)
            parent_->stop();
    }

    void join(StartedAs started = test_program()) {
        parent_.emplace(std::move(started), "secret", UpgradeParent::Programs::end_with_it, log_);
        line_ = std::make_unique<MasterLine>(WorkerIdentity{0, 0, 1}, MUST(parent_->join()));
    }
    void send(const Message& message, io::Socket passed = {}) { EXPECT_TRUE(line_->send(message, std::move(passed))); }
    // Up to the answer.
    Message upgrade() {
        send({Kind::upgrade});
        receive(*line_, Kind::give);
        give_sockets(*line_);
        return receive(*line_, Kind::upgraded);
    }
    // With a program that serves.
    pid_t succeed() {
        plan("serve");
        const Message upgraded = upgrade();
        EXPECT_EQ(upgraded.flag, 0) << upgraded.text;
        send({Kind::handed});
        return static_cast<pid_t>(upgraded.ticket);
    }

    std::optional<UpgradeParent> parent_;
    std::unique_ptr<MasterLine> line_;
};

TEST_F(UpgradeParentTest, ProcessIsAMemberByItself) {
    EXPECT_EQ(parent_->new_processes(), 0U);
    EXPECT_FALSE(parent_->has_newest());
    send({Kind::claim, 0, 0, 4, 0, "/live/a"});
    EXPECT_EQ(receive(*line_).kind, Kind::claimed);
}

TEST_F(UpgradeParentTest, NewProgramServes) {
    const pid_t pid = succeed();
    EXPECT_GT(pid, 0);
    EXPECT_EQ(::kill(pid, 0), 0);
    EXPECT_TRUE(parent_->has_newest());
    EXPECT_EQ(parent_->new_processes(), 1U);
    // The program announces this when it may take clients.
    const Message moved = receive(*line_, Kind::moved);
    EXPECT_EQ(moved.text, "/taken/0");
    EXPECT_EQ(moved.worker, 2);
}

TEST_F(UpgradeParentTest, BothReceiveTheNumbers) {
    plan("serve");
    send({Kind::upgrade});
    receive(*line_, Kind::give);
    send({Kind::given});
    EXPECT_EQ(receive(*line_, Kind::members).text, std::string("\x01\x02"));
}

TEST_F(UpgradeParentTest, NewProgramWaitsForTheOldOne) {
    plan("serve");
    EXPECT_EQ(upgrade().flag, 0);
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    EXPECT_FALSE(MUST(line_->take())) << "it may not take clients yet";
    send({Kind::handed});
    EXPECT_EQ(receive(*line_, Kind::moved).text, "/taken/0");
}

TEST_F(UpgradeParentTest, RefusalReachesTheProcess) {
    plan("fail");
    const Message upgraded = upgrade();
    EXPECT_EQ(upgraded.flag, 1);
    EXPECT_EQ(upgraded.text, "the port is taken");
    EXPECT_FALSE(parent_->has_newest());
    io::wait_until([&] { return parent_->new_processes() == 0; });
}

TEST_F(UpgradeParentTest, DeathAtStartReachesTheProcess) {
    plan("die");
    const Message upgraded = upgrade();
    EXPECT_EQ(upgraded.flag, 1);
    EXPECT_EQ(upgraded.text, "the new program exited with 3 before it served: it has said why on stderr, or in its log");
}

TEST_F(UpgradeParentTest, MissingProgramReachesTheProcess) {
    parent_->stop();
    join({{"/nonexistent/program"}, -1});
    const Message upgraded = upgrade();
    EXPECT_EQ(upgraded.flag, 1);
    EXPECT_NE(upgraded.text, "");
    EXPECT_EQ(parent_->new_processes(), 0U);
}

TEST_F(UpgradeParentTest, UpgradeCanBeTriedAgain) {
    plan("die");
    EXPECT_EQ(upgrade().flag, 1);
    io::wait_until([&] { return parent_->new_processes() == 0; });
    EXPECT_GT(succeed(), 0);
}

TEST_F(UpgradeParentTest, OneUpgradeAtATime) {
    plan("mute");
    send({Kind::upgrade});
    receive(*line_, Kind::give);
    send({Kind::upgrade});
    const Message refused = receive(*line_, Kind::upgraded);
    EXPECT_EQ(refused.flag, 1);
    EXPECT_EQ(refused.text, "an upgrade is under way already");
}

TEST_F(UpgradeParentTest, ProcessThatDiesWhileItGivesIsNotReplaced) {
    plan("serve");
    send({Kind::upgrade});
    receive(*line_, Kind::give);
    line_->close();
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    EXPECT_EQ(parent_->new_processes(), 0U);
    EXPECT_FALSE(parent_->has_newest());
}

TEST_F(UpgradeParentTest, EndOfTheNewestIsNoticed) {
    const pid_t pid = succeed();
    EXPECT_EQ(parent_->newest_status(), 0);
    ASSERT_EQ(::kill(pid, SIGTERM), 0);
    io::wait_until([&] { return !parent_->has_newest(); });
    EXPECT_EQ(parent_->newest_status(), 128 + SIGTERM);
    EXPECT_EQ(parent_->new_processes(), 0U);
}

TEST_F(UpgradeParentTest, SignalsReachTheNewest) {
    succeed();
    parent_->send_to_newest(SIGTERM);
    io::wait_until([&] { return !parent_->has_newest(); });
    parent_->send_to_newest(SIGTERM);
}

TEST_F(UpgradeParentTest, ProgramsEndWithTheStop) {
    const pid_t pid = succeed();
    parent_->stop();
    parent_.reset();
    EXPECT_NE(::kill(pid, 0), 0);
}

// The program ends by itself when its line closes; a real one continues alone.
TEST_F(UpgradeParentTest, ReleasedProgramsAreNotKilled) {
    const pid_t pid = succeed();
    EXPECT_EQ(receive(*line_, Kind::moved).text, "/taken/0");
    parent_->release();
    EXPECT_EQ(::kill(pid, 0), 0);
    parent_.reset();
    ::kill(pid, SIGKILL);
}

}  // namespace
}  // namespace live::supervisor
