#include "supervisor/upgrade.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include <unistd.h>

#include "base/net/endpoint.hpp"
#include "io/net/udp_socket.hpp"
#include "supervisor/program_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Message;

// A successful upgrade raises SIGUSR2, which nobody waits for here.
class IgnoredSignal {
public:
    explicit IgnoredSignal(int number) : number_(number), before_(std::signal(number, SIG_IGN)) {}
    ~IgnoredSignal() { std::signal(number_, before_); }
    IgnoredSignal(const IgnoredSignal&) = delete;
    IgnoredSignal& operator=(const IgnoredSignal&) = delete;

private:
    int number_;
    void (*before_)(int);
};

class LoneClient final : public MasterClient {
public:
    bool is_on() const override { return line != nullptr; }
    Result<void> attach(MasterLine& master) override {
        line = &master;
        return {};
    }

    MasterLine* line = nullptr;
};

// A worker: the test is its master.
class WorkerUpgradeTest : public ProgramFixture {
protected:
    WorkerUpgradeTest() {
        auto [here, there] = MUST(io::MessageSocket::pair());
        master_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(here));
        line_ = std::make_unique<MasterLine>(WorkerIdentity{1, 2}, std::move(there));
        client_.line = line_.get();
        upgrade_ = std::make_unique<Upgrade>(Upgrade::Shared{{}, "secret", line_, pid_file_, "", false, 4711}, log_);
    }
    UpgradeListener& listener() { return *upgrade_; }

    IgnoredSignal ignored_{SIGUSR2};
    LoneClient client_;
    std::unique_ptr<MasterLine> master_;
    std::unique_ptr<MasterLine> line_;
    std::unique_ptr<PidFile> pid_file_;
    std::unique_ptr<Upgrade> upgrade_;
};

TEST_F(WorkerUpgradeTest, ServesAtFirst) {
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::serving);
    EXPECT_FALSE(upgrade_->has_successor());
    EXPECT_EQ(upgrade_->server_pid(), 4711) << "the pid file names the master";
    EXPECT_EQ(upgrade_->parent(), nullptr);
    EXPECT_FALSE(upgrade_->stays());
}

TEST_F(WorkerUpgradeTest, SendsARequestToItsMaster) {
    upgrade_->begin(client_, false);
    EXPECT_EQ(receive(*master_).kind, Kind::upgrade);
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::starting);
    upgrade_->begin(client_, false);
    EXPECT_FALSE(MUST(master_->take())) << "once";
}

TEST_F(WorkerUpgradeTest, NodeOfAClusterIsNotUpgraded) {
    upgrade_->begin(client_, true);
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::serving);
    EXPECT_NE(upgrade_->status().error.find("a node of a cluster"), std::string::npos);
    EXPECT_FALSE(MUST(master_->take()));
}

TEST_F(WorkerUpgradeTest, GivesItsSockets) {
    const auto socket = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 0));
    listener().on_give();
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::starting);
    std::size_t gifts = 0;
    for (;;) {
        auto incoming = MUST(master_->next("nothing came", io::Deadline::after(io::kSoon)));
        if (incoming.message.kind == Kind::given)
            break;
        ASSERT_EQ(incoming.message.kind, Kind::gift);
        EXPECT_TRUE(incoming.passed.is_open());
        gifts += incoming.message.text.starts_with("udp 127.0.0.1:") ? 1 : 0;
    }
    EXPECT_GE(gifts, 1U);
}

TEST_F(WorkerUpgradeTest, RefusedUpgradeKeepsServing) {
    upgrade_->begin(client_, false);
    listener().on_upgraded(std::nullopt, "the port is taken");
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::serving);
    EXPECT_EQ(upgrade_->status().error, "the port is taken");
    EXPECT_FALSE(upgrade_->has_successor());
    upgrade_->begin(client_, false);
    EXPECT_EQ(upgrade_->status().error, "") << "a new attempt";
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::starting);
}

TEST_F(WorkerUpgradeTest, DrainsWhenTheNewProgramServes) {
    upgrade_->begin(client_, false);
    EXPECT_EQ(receive(*master_).kind, Kind::upgrade);
    listener().on_upgraded(815, "");
    EXPECT_TRUE(upgrade_->has_successor());
    EXPECT_EQ(upgrade_->status().successor, 815U);
    upgrade_->note_handed();
    EXPECT_EQ(receive(*master_).kind, Kind::handed);
    EXPECT_FALSE(upgrade_->is_everybody_out()) << "another worker may take clients still";
    listener().on_take();
    EXPECT_TRUE(upgrade_->is_everybody_out());
}

TEST_F(WorkerUpgradeTest, LostMasterIsALostSuccessor) {
    EXPECT_TRUE(upgrade_->successor_lives(client_));
    client_.line = nullptr;
    EXPECT_FALSE(upgrade_->successor_lives(client_));
}

TEST_F(WorkerUpgradeTest, RequestWaitsForTheOutcome) {
    io::Scope fibers("test");
    std::optional<Result<std::uint32_t>> answer;
    MUST(fibers.start("request", [&](io::Deadline) { answer = upgrade_->request(io::Deadline::after(io::kSoon)); }));
    MUST(io::yield(io::Deadline::never()));
    EXPECT_EQ(upgrade_->request(io::Deadline::never()).code(), Errc::conflict) << "one is under way";
    upgrade_->begin(client_, false);
    EXPECT_FALSE(answer);
    listener().on_upgraded(815, "");
    MUST(fibers.join(io::Deadline::after(io::kSoon)));
    EXPECT_EQ(MUST(*answer), 815U);
    EXPECT_EQ(upgrade_->request(io::Deadline::never()).code(), Errc::conflict) << "it has handed over";
}

TEST_F(WorkerUpgradeTest, RequestReportsTheReason) {
    io::Scope fibers("test");
    std::optional<Result<std::uint32_t>> answer;
    MUST(fibers.start("request", [&](io::Deadline) { answer = upgrade_->request(io::Deadline::after(io::kSoon)); }));
    MUST(io::yield(io::Deadline::never()));
    upgrade_->begin(client_, false);
    listener().on_upgraded(std::nullopt, "the port is taken");
    MUST(fibers.join(io::Deadline::after(io::kSoon)));
    EXPECT_EQ(answer->code(), Errc::system);
    EXPECT_EQ(answer->error().sentence(), "the port is taken");
}

TEST_F(WorkerUpgradeTest, RequestHasALimit) { EXPECT_EQ(upgrade_->request(io::Deadline::after(5ms)).code(), Errc::timed_out); }

// A process without workers becomes the parent of the upgrade.
class ProcessUpgradeTest : public ProgramFixture {
protected:
    ProcessUpgradeTest() {
        pid_file_ = MUST(PidFile::create(path_));
        upgrade_ = std::make_unique<Upgrade>(Upgrade::Shared{test_program(), "secret", line_, pid_file_, path_, true, 0}, log_);
    }
    ~ProcessUpgradeTest() override {
        upgrade_->end();
        std::filesystem::remove(path_);
    }

    // As the service of this process does.
    void serve_line() {
        UpgradeListener& listener = *upgrade_;
        for (bool is_over = false; !is_over;) {
            const Message message = receive(*line_);
            if (message.kind == Kind::give)
                listener.on_give();
            if (message.kind != Kind::upgraded)
                continue;
            is_over = true;
            listener.on_upgraded(message.flag == 0 ? std::optional(message.ticket) : std::nullopt, message.text);
        }
    }

    IgnoredSignal ignored_{SIGUSR2};
    const std::string path_ = "/tmp/live_upgrade_test." + std::to_string(::getpid());
    LoneClient client_;
    std::unique_ptr<MasterLine> line_;
    std::unique_ptr<PidFile> pid_file_;
    std::unique_ptr<Upgrade> upgrade_;
};

TEST_F(ProcessUpgradeTest, BecomesTheParentOfTheNewProgram) {
    plan("serve");
    EXPECT_EQ(upgrade_->server_pid(), ::getpid());
    upgrade_->begin(client_, false);
    ASSERT_NE(upgrade_->parent(), nullptr);
    EXPECT_TRUE(client_.is_on());
    serve_line();
    EXPECT_TRUE(upgrade_->has_successor());
    EXPECT_TRUE(upgrade_->is_everybody_out()) << "there are no other processes";
    EXPECT_TRUE(upgrade_->successor_lives(client_));
    upgrade_->note_handed();
    upgrade_->parent()->send_to_newest(SIGKILL);
    io::wait_until([&] { return !upgrade_->successor_lives(client_); });
    EXPECT_EQ(upgrade_->parent()->newest_status(), 128 + SIGKILL);
}

TEST_F(ProcessUpgradeTest, KeepsServingWhenTheProgramDies) {
    plan("die");
    upgrade_->begin(client_, false);
    serve_line();
    EXPECT_FALSE(upgrade_->has_successor());
    EXPECT_EQ(upgrade_->status().state, UpgradeStatus::State::serving);
    EXPECT_NE(upgrade_->status().error.find("exited with 3"), std::string::npos) << upgrade_->status().error;
}

TEST_F(ProcessUpgradeTest, CanBeUpgradedAfterAFailure) {
    plan("fail");
    upgrade_->begin(client_, false);
    serve_line();
    EXPECT_EQ(upgrade_->status().error, "the port is taken");
    plan("serve");
    upgrade_->begin(client_, false);
    serve_line();
    EXPECT_TRUE(upgrade_->has_successor());
}

TEST_F(ProcessUpgradeTest, EndKillsTheNewProgram) {
    plan("serve");
    upgrade_->begin(client_, false);
    serve_line();
    const auto pid = static_cast<pid_t>(upgrade_->status().successor.value_or(0));
    ASSERT_EQ(::kill(pid, 0), 0);
    upgrade_->end();
    EXPECT_NE(::kill(pid, 0), 0);
    EXPECT_EQ(upgrade_->parent(), nullptr);
}

}  // namespace
}  // namespace live::supervisor
