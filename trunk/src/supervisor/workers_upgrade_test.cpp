#include "supervisor/workers_upgrade.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <unistd.h>

#include "supervisor/program_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;

// Real workers and real new programs. A new program here is a process that receives the roll and does not start workers.
class WorkersUpgradeTest : public ProgramFixture {
protected:
    WorkersUpgradeTest() : before_(std::signal(SIGUSR2, SIG_IGN)) {
        plan("serve");
        const auto failure = master_.start(io::Deadline::never());
        EXPECT_FALSE(failure);
    }
    ~WorkersUpgradeTest() override {
        upgrade_.reset();
        master_.stop(SIGKILL, 0ms);
        std::signal(SIGUSR2, before_);
    }

    WorkersUpgrade& upgrade(bool stays, io::Socket parent = {}) {
        upgrade_ = std::make_unique<WorkersUpgrade>(
            WorkersUpgrade::Shared{master_, "secret", pid_file_, "", stays, std::move(parent)}, log_);
        return *upgrade_;
    }

    void (*before_)(int);
    Master master_{test_program(), 2, "secret", log_, {}};
    std::unique_ptr<PidFile> pid_file_;
    std::unique_ptr<WorkersUpgrade> upgrade_;
};

TEST_F(WorkersUpgradeTest, HandsOverToTheNewProgram) {
    WorkersUpgrade& steps = upgrade(true);
    EXPECT_FALSE(steps.has_successor());
    EXPECT_EQ(steps.new_processes(), 0U);
    steps.begin();
    io::wait_until([&] { return steps.has_successor(); });
    EXPECT_EQ(::kill(static_cast<pid_t>(steps.successor()), 0), 0);
    EXPECT_TRUE(steps.has_newest());
    EXPECT_EQ(steps.new_processes(), 1U);
    EXPECT_EQ(master_.hand_over().step(), HandOver::Step::over);
    EXPECT_TRUE(master_.hand_over().has_handed(1) && master_.hand_over().has_handed(2));
    EXPECT_FALSE(master_.are_gone()) << "the workers have clients";
}

TEST_F(WorkersUpgradeTest, EndOfTheNewestIsNoticed) {
    WorkersUpgrade& steps = upgrade(true);
    steps.begin();
    io::wait_until([&] { return steps.has_successor(); });
    steps.send_to_newest(SIGKILL);
    io::wait_until([&] { return !steps.has_newest(); });
    EXPECT_EQ(steps.status(), 128 + SIGKILL);
    EXPECT_EQ(steps.new_processes(), 0U);
}

TEST_F(WorkersUpgradeTest, RefusalKeepsTheWorkers) {
    plan("fail");
    WorkersUpgrade& steps = upgrade(true);
    steps.begin();
    io::wait_until([&] { return !master_.hand_over().why().empty(); });
    EXPECT_EQ(master_.hand_over().why(), "the port is taken");
    EXPECT_FALSE(steps.has_successor());
    EXPECT_FALSE(master_.are_gone());
    EXPECT_EQ(master_.restarts(), 0U);
    EXPECT_TRUE(MUST(master_.gather(io::Deadline::never())).size() == 2U) << "they serve as before";
}

TEST_F(WorkersUpgradeTest, DeathOfTheNewProgramKeepsTheWorkers) {
    plan("die");
    WorkersUpgrade& steps = upgrade(true);
    steps.begin();
    io::wait_until([&] { return !master_.hand_over().why().empty(); });
    EXPECT_NE(master_.hand_over().why().find("exited with 3"), std::string::npos) << master_.hand_over().why();
    EXPECT_FALSE(steps.has_successor());
    EXPECT_FALSE(master_.are_gone());
}

TEST_F(WorkersUpgradeTest, CanBeTriedAgain) {
    plan("die");
    WorkersUpgrade& steps = upgrade(true);
    steps.begin();
    io::wait_until([&] { return !master_.hand_over().why().empty(); });
    plan("serve");
    io::wait_until([&] {
        steps.begin();  // no effect while the first attempt ends
        return steps.has_successor();
    });
}

TEST_F(WorkersUpgradeTest, EndStopsAnAttempt) {
    plan("mute");
    WorkersUpgrade& steps = upgrade(true);
    steps.begin();
    io::wait_until([&] { return steps.new_processes() == 1; });
    steps.end();
    EXPECT_EQ(steps.new_processes(), 0U) << "the program is killed";
    steps.begin();
    EXPECT_EQ(steps.new_processes(), 0U) << "nothing begins any more";
    EXPECT_FALSE(master_.are_gone());
}

// A later master sends its request to the process that stays in the foreground. The test is that process.
class LaterUpgradeTest : public WorkersUpgradeTest {
protected:
    LaterUpgradeTest() {
        auto [here, there] = MUST(io::MessageSocket::pair());
        first_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(here));
        upgrade(false, std::move(there)).begin();
        auto launch = MUST(first_->next("nothing came", io::Deadline::after(io::kSoon)));
        EXPECT_EQ(launch.message.kind, Kind::launch);
        EXPECT_TRUE(launch.passed.is_open());
        program_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(launch.passed));
    }

    std::unique_ptr<MasterLine> first_;
    std::unique_ptr<MasterLine> program_;  // the line of the new program
};

TEST_F(LaterUpgradeTest, ProcessThatStaysStartsTheProgram) {
    auto [here, there] = MUST(io::MessageSocket::pair());
    EXPECT_TRUE(first_->send({Kind::launched, 0, 0, 99'999, 0, ""}, std::move(there)));
    std::size_t sockets = 0;
    for (;;) {
        const auto message = receive(*program_);
        if (message.kind == Kind::begin) {
            EXPECT_EQ(message.worker, 2) << "numbers of the next workers follow";
            EXPECT_EQ(message.ticket, 2U);
            EXPECT_EQ(message.flag, 1);
            break;
        }
        ASSERT_EQ(message.kind, Kind::gift);
        sockets += message.worker != 0 ? 1 : 0;
    }
    EXPECT_EQ(sockets, 2U);
    EXPECT_TRUE(program_->send({Kind::ready}));
    EXPECT_EQ(receive(*first_, Kind::handed).ticket, 99'999U);
    EXPECT_TRUE(upgrade_->has_successor());
    EXPECT_EQ(upgrade_->successor(), 99'999U);
    EXPECT_EQ(upgrade_->new_processes(), 0U) << "it is another process's child";
    std::size_t members = 0;
    for (auto kind = receive(*program_).kind; kind != Kind::take; kind = receive(*program_).kind)
        members += kind == Kind::member ? 1 : 0;
    EXPECT_EQ(members, 2U);
}

TEST_F(LaterUpgradeTest, ProgramThatIsNotStartedChangesNothing) {
    EXPECT_TRUE(first_->send({Kind::launched, 1, 0, 0, 0, "there is no such file"}));
    io::wait_until([&] { return !master_.hand_over().why().empty(); });
    EXPECT_EQ(master_.hand_over().why(), "there is no such file");
    EXPECT_FALSE(upgrade_->has_successor());
}

TEST_F(LaterUpgradeTest, ProgramThatClosesItsLineChangesNothing) {
    EXPECT_TRUE(first_->send({Kind::launched, 0, 0, 99'999, 0, ""}));
    receive(*program_, Kind::begin);
    program_->close();
    io::wait_until([&] { return !master_.hand_over().why().empty(); });
    EXPECT_EQ(master_.hand_over().why(), "the new program ended before it served: it has said why on stderr, or in its log");
}

TEST_F(LaterUpgradeTest, LostProcessThatStaysChangesNothing) {
    first_->close();
    io::wait_until([&] { return !master_.hand_over().why().empty(); });
    EXPECT_FALSE(upgrade_->has_successor());
    EXPECT_FALSE(master_.are_gone());
}

}  // namespace
}  // namespace live::supervisor
