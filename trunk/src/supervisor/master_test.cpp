#include "supervisor/master.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <unistd.h>

#include "supervisor/program_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Worker;

class MasterTest : public ProgramFixture {
protected:
    ~MasterTest() override { ::unlink(file_.c_str()); }

    std::unique_ptr<Master> master(std::size_t count, Master::Inheritance inheritance = {}) {
        return std::make_unique<Master>(test_program(), count, "secret", log_, std::move(inheritance));
    }
    static void start(Master& master) {
        const auto failure = master.start(io::Deadline::never());
        ASSERT_FALSE(failure) << failure->sentence;
    }
    static void stop(Master& master) { master.stop(SIGKILL, 0ms); }

    const std::string file_ = "/tmp/live_master_test." + std::to_string(::getpid());
};

TEST_F(MasterTest, StartsAllWorkers) {
    plan("serve");
    const auto workers = master(3);
    EXPECT_EQ(workers->size(), 3U);
    start(*workers);
    EXPECT_FALSE(workers->are_gone());
    EXPECT_EQ(workers->restarts(), 0U);
    stop(*workers);
    EXPECT_TRUE(workers->are_gone());
}

TEST_F(MasterTest, WorkersEndWithTheStop) {
    plan("serve");
    const auto workers = master(2);
    start(*workers);
    workers->begin_stop(SIGTERM);
    io::wait_until([&] { return workers->are_gone(); });
    workers->stop(SIGTERM, 0ms);
    EXPECT_EQ(workers->restarts(), 0U) << "a stopping master restarts none";
}

TEST_F(MasterTest, FailureOfAWorkerIsTheMasters) {
    plan("fail");
    const auto workers = master(2);
    const auto failure = workers->start(io::Deadline::never());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->status, 7);
    EXPECT_EQ(failure->sentence, "the port is taken");
    EXPECT_TRUE(workers->are_gone()) << "none is left";
}

TEST_F(MasterTest, WorkerThatDiesAtStartFailsTheStart) {
    plan("die");
    const auto workers = master(2);
    const auto failure = workers->start(io::Deadline::never());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->sentence, "worker 1 died while it started");
    EXPECT_TRUE(workers->are_gone());
}

TEST_F(MasterTest, ProgramWithoutCommandLineCannotBeStarted) {
    Master workers({}, 2, "secret", log_, {});
    const auto failure = workers.start(io::Deadline::never());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->sentence, "the command line of this process is unknown: is /proc mounted?");
}

TEST_F(MasterTest, DeadWorkerIsRestarted) {
    plan("serve and die once " + file_);
    const auto workers = master(2);
    start(*workers);
    io::wait_until([&] { return workers->restarts() == 1; });
    EXPECT_EQ(MUST(workers->gather(io::Deadline::never())).size(), 2U);
    stop(*workers);
}

TEST_F(MasterTest, SocketsOfAllWorkersAreGathered) {
    plan("serve");
    const auto workers = master(3);
    start(*workers);
    const auto sockets = MUST(workers->gather(io::Deadline::after(io::kSoon)));
    ASSERT_EQ(sockets.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(sockets[i].size(), 1U) << i;
        EXPECT_EQ(sockets[i][0].name, "tcp 127.0.0.1:" + std::to_string(1'001 + i));
        EXPECT_TRUE(sockets[i][0].copy.is_open());
    }
    EXPECT_EQ(workers->hand_over().step(), HandOver::Step::starting);
    stop(*workers);
}

TEST_F(MasterTest, WorkersOfANewProgramInheritSockets) {
    plan("serve");
    const auto socket = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 0));
    WorkersSockets sockets(2);
    for (auto& of_worker : sockets)
        of_worker = io::copies_of_bound_sockets();
    ASSERT_FALSE(sockets[0].empty());
    const auto workers = master(2, {2, std::move(sockets)});
    start(*workers);
    stop(*workers);
}

// The worker ends when an inherited descriptor is not the socket of its name.
TEST_F(MasterTest, WrongInheritedSocketFailsTheStart) {
    plan("serve");
    auto [here, there] = MUST(io::stream_pair());
    WorkersSockets sockets(1);
    sockets[0].push_back({"udp 127.0.0.1:9", std::move(there)});
    const auto workers = master(1, {1, std::move(sockets)});
    const auto failure = workers->start(io::Deadline::never());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->sentence, "worker 2 died while it started");
}

TEST_F(MasterTest, NumbersOfTheNextWorkersAreFree) {
    plan("serve");
    const auto workers = master(3);
    EXPECT_EQ(MUST(workers->free_base()), 3);
    const auto next = master(3, {3, {}});
    EXPECT_EQ(MUST(next->free_base()), 0) << "the old master's numbers are free there until it hands over";
}

// The whole of an upgrade of workers but for the new program, which is another master of this process.
class RollTest : public MasterTest {
protected:
    RollTest() {
        auto [here, there] = MUST(io::MessageSocket::pair());
        to_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(here));
        from_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(there));
        plan("serve");
        old_ = master(2);
        start(*old_);
        EXPECT_EQ(MUST(old_->gather(io::Deadline::after(io::kSoon))).size(), 2U);
        old_->hand_over().on_program_ready(io::now());
        old_->send_to_workers({Kind::upgraded, 0, 0, 42, 0, ""});
    }
    ~RollTest() override {
        stop(*old_);
        if (new_ != nullptr)
            new_->stop(SIGKILL, 0ms);
    }

    std::unique_ptr<MasterLine> to_;
    std::unique_ptr<MasterLine> from_;
    std::unique_ptr<Master> old_;
    std::unique_ptr<Master> new_;
};

TEST_F(RollTest, NextMasterReceivesWorkersAndStreams) {
    old_->await_handed(io::Deadline::never());
    EXPECT_EQ(old_->hand_over().step(), HandOver::Step::over);
    EXPECT_TRUE(old_->hand_over().has_handed(1) && old_->hand_over().has_handed(2));
    MUST(old_->hand_roll(*to_, io::Deadline::after(io::kSoon)));
    new_ = master(2, {2, {}});
    MUST(new_->take_roll(*from_, io::Deadline::after(io::kSoon)));
    EXPECT_EQ(MUST(new_->free_base()), 4) << "the old workers have 1 and 2, its own will have 3 and 4";
    stop(*old_);
    io::wait_until([&] { return MUST(new_->free_base()) == 0; });
}

TEST_F(RollTest, OldMasterKeepsOnlyTheProcesses) {
    old_->await_handed(io::Deadline::never());
    MUST(old_->hand_roll(*to_, io::Deadline::after(io::kSoon)));
    EXPECT_FALSE(old_->are_gone()) << "the workers have clients";
    EXPECT_EQ(old_->restarts(), 0U);
    std::size_t members = 0;
    for (;;) {
        auto incoming = MUST(from_->next("nothing came", io::Deadline::after(io::kSoon)));
        if (incoming.message.kind == Kind::take)
            break;
        if (incoming.message.kind != Kind::member)
            continue;
        ++members;
        EXPECT_TRUE(incoming.passed.is_open());
    }
    EXPECT_EQ(members, 2U);
    // Their lines close with the passed ends, and they end.
    from_.reset();
    io::wait_until([&] { return old_->are_gone(); });
}

// The new master is killed in the middle.
TEST_F(RollTest, NewProgramThatDiesDoesNotHoldTheOldOneUp) {
    old_->await_handed(io::Deadline::never());
    from_->close();
    EXPECT_EQ(old_->hand_roll(*to_, io::Deadline::after(io::kSoon)).code(), Errc::closed);
}

// The old master is killed in the middle.
TEST_F(RollTest, ReceivedWorkersStayWhenTheOldMasterDies) {
    auto [mine, its] = MUST(io::MessageSocket::pair());
    MasterLine worker(WorkerIdentity{}, std::move(its));
    new_ = master(2, {2, {}});
    EXPECT_TRUE(to_->send({Kind::announce, 0, 1, 0, 5, "/live/a"}));
    EXPECT_TRUE(to_->send({Kind::member, 0, 1}, std::move(mine)));
    to_->close();
    EXPECT_EQ(new_->take_roll(*from_, io::Deadline::after(io::kSoon)).code(), Errc::closed);
    EXPECT_TRUE(worker.send({Kind::find, 0, 0, 9, 0, "/live/a"}));
    const auto found = receive(worker, Kind::found);
    EXPECT_EQ(found.worker, 1);
    EXPECT_EQ(found.epoch, 5U) << "the order of owners is kept";
}

TEST_F(RollTest, MembersWithoutNumberOrLineAreIgnored) {
    new_ = master(2, {2, {}});
    auto [here, there] = MUST(io::stream_pair());
    EXPECT_TRUE(to_->send({Kind::member, 0, 0}, std::move(there)));
    EXPECT_TRUE(to_->send({Kind::member, 0, 1}));
    EXPECT_TRUE(to_->send({Kind::take}));
    MUST(new_->take_roll(*from_, io::Deadline::after(io::kSoon)));
    EXPECT_EQ(MUST(new_->free_base()), 0) << "1 and 2 are free still";
}

TEST_F(RollTest, WorkersOfTheNewProgramTakeClients) {
    new_ = master(1, {2, {}});
    start(*new_);
    auto [mine, its] = MUST(io::MessageSocket::pair());
    MasterLine elder(WorkerIdentity{}, std::move(its));
    EXPECT_TRUE(to_->send({Kind::member, 0, 1}, std::move(mine)));
    EXPECT_TRUE(to_->send({Kind::take}));
    MUST(new_->take_roll(*from_, io::Deadline::after(io::kSoon)));
    new_->begin_service();
    const auto moved = receive(elder, Kind::moved);
    EXPECT_EQ(moved.text, "/taken/3");
    EXPECT_EQ(moved.worker, 3);
}

// A worker that does not stop taking clients would take those that the new program expects.
TEST_F(MasterTest, WorkerThatDoesNotHandOverIsKilled) {
    plan("serve and keep");
    const auto workers = master(1);
    start(*workers);
    MUST(workers->gather(io::Deadline::after(io::kSoon)));
    workers->hand_over().on_program_ready(io::now());
    workers->send_to_workers({Kind::upgraded, 0, 0, 42, 0, ""});
    workers->hand_over().on_time(io::now() + Master::kHandLimit);
    workers->await_handed(io::Deadline::never());
    io::wait_until([&] { return workers->are_gone(); });
    EXPECT_EQ(workers->restarts(), 0U);
    stop(*workers);
}

TEST_F(MasterTest, OperatorsSignalsComeFromWorkersToo) {
    auto [here, there] = MUST(io::MessageSocket::pair());
    MasterLine to(WorkerIdentity{}, std::move(here));
    MasterLine from(WorkerIdentity{}, std::move(there));
    auto [mine, its] = MUST(io::MessageSocket::pair());
    MasterLine worker(WorkerIdentity{}, std::move(its));
    const auto workers = master(1, {1, {}});
    EXPECT_TRUE(to.send({Kind::member, 0, 1}, std::move(mine)));
    EXPECT_TRUE(to.send({Kind::take}));
    MUST(workers->take_roll(from, io::Deadline::after(io::kSoon)));
    EXPECT_FALSE(workers->take_reload_request());
    EXPECT_TRUE(worker.send({Kind::reload}));
    io::wait_until([&] { return workers->take_reload_request(); });
    EXPECT_FALSE(workers->take_reload_request()) << "once";
    stop(*workers);
}

}  // namespace
}  // namespace live::supervisor
