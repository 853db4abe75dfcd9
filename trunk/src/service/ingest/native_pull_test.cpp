#include "service/ingest/native_pull.hpp"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::ingest {
namespace {

using io::kSoon;

// A camera that is connected until it is ended.
class Camera final : public session::PulledLink {
public:
    session::PullFigures pull_figures() const override { return figures; }
    void end_pull(std::string) override { ended.raise(); }

    session::PullFigures figures{.transport = "tcp", .peer = "192.0.2.7:554", .packets = 10, .has_media = true};
    Signal ended;
};

class NativePullTest : public testing::Test {
protected:
    ~NativePullTest() override { MUST(scope_.stop(io::Deadline::after(kSoon))); }

    void run(std::shared_ptr<Demand> demand = nullptr) {
        auto call = [this](session::ClientRequest, const Log&, const session::OnPulling& on_pulling, io::Deadline deadline) {
            ++calls_;
            if (on_call_)
                on_call_();
            if (!is_there_)
                return Result<void>(Error(why_, "no camera"));
            on_pulling(&camera_);
            auto waited = io::wait(camera_.ended, deadline);
            on_pulling(nullptr);
            return waited.ok() ? Result<void>(Error(Errc::closed, "it has ended")) : waited;
        };
        pull_.emplace(
            std::move(call), "rtsp://c/", session::ClientRequest(), NativePull::Timing{"v/cam", 1ms, 8ms, 1h}, Log(),
            [this](bool holds) { holds_.push_back(holds); }, std::move(demand));
        MUST(scope_.start("pull", [this](io::Deadline forever) { pull_->run(forever); }));
    }
    IngestState state() const { return pull_->facts().state; }

    const std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    io::Scope scope_{"pull"};
    Camera camera_;
    std::optional<NativePull> pull_;
    int calls_ = 0;
    bool is_there_ = true;
    Errc why_ = Errc::closed;
    std::function<void()> on_call_;
    std::vector<bool> holds_;
};

TEST_F(NativePullTest, ReportsItsConnectionAndAddsUpThoseThatHaveEnded) {
    run();
    io::wait_until([&] { return state() == IngestState::running; });
    EXPECT_EQ(pull_->facts().link.peer, "192.0.2.7:554");
    EXPECT_EQ(pull_->facts().link.packets, 10U);
    EXPECT_EQ(pull_->facts().restarts, 0U);
    camera_.ended.raise();
    io::wait_until([&] { return calls_ == 2 && state() == IngestState::running; });
    EXPECT_EQ(pull_->facts().link.packets, 20U);
    EXPECT_EQ(pull_->facts().restarts, 1U);
    EXPECT_NE(pull_->facts().last_error.find("it has ended"), std::string::npos);
    camera_.figures.has_media = false;
    EXPECT_EQ(state(), IngestState::connecting) << "connected, and nothing has arrived";
}

TEST_F(NativePullTest, WaitsBetweenAttempts) {
    is_there_ = false;
    run();
    io::wait_until([&] { return state() == IngestState::waiting && pull_->facts().restarts >= 2; });
    EXPECT_TRUE(pull_->facts().next_attempt);
    EXPECT_NE(pull_->facts().last_error.find("no camera"), std::string::npos);
    EXPECT_TRUE(pull_->facts().link.transport.empty());
}

TEST_F(NativePullTest, HoldsThePlayersOfAStreamThatHasHadMedia) {
    run();
    io::wait_until([&] { return state() == IngestState::running; });
    pull_->check_demand(io::now());
    ASSERT_EQ(holds_, std::vector<bool>{true});
    MUST(scope_.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(holds_.back(), false);
}

TEST_F(NativePullTest, RunsWhileSomebodyWatches) {
    const auto demand = std::make_shared<Demand>();
    run(demand);
    io::wait_until([&] { return state() == IngestState::idle; });
    EXPECT_EQ(calls_, 0);
    demand->note(io::now());
    io::wait_until([&] { return state() == IngestState::running; });
    pull_->check_demand(io::now());
    EXPECT_FALSE(camera_.ended.is_raised());
    pull_->check_demand(io::now() + Demand::kLinger - 1s);
    EXPECT_FALSE(camera_.ended.is_raised());
    pull_->check_demand(io::now() + Demand::kLinger);
    EXPECT_TRUE(camera_.ended.is_raised());
}

TEST_F(NativePullTest, KeepsTheErrorOfAnAttemptWhoseViewersHaveLeft) {
    const auto demand = std::make_shared<Demand>();
    Signal viewer;
    run(demand);
    io::wait_until([&] { return state() == IngestState::idle; });
    is_there_ = false;
    // A viewer whose patience ends during the attempt.
    demand->add(viewer);
    on_call_ = [&] { demand->remove(viewer); };
    demand->began().raise();
    io::wait_until([&] { return calls_ == 1 && state() == IngestState::idle; });
    EXPECT_NE(pull_->facts().last_error.find("no camera"), std::string::npos);
    EXPECT_FALSE(pull_->facts().next_attempt);
    // The next attempt is watched, and ends with its viewers.
    is_there_ = true;
    on_call_ = {};
    demand->add(viewer);
    demand->began().raise();
    io::wait_until([&] { return state() == IngestState::running; });
    demand->remove(viewer);
    pull_->check_demand(io::now());
    io::wait_until([&] { return state() == IngestState::idle; });
    EXPECT_EQ(pull_->facts().last_error, "");
    // Another worker has the stream.
    is_there_ = false;
    why_ = Errc::conflict;
    demand->add(viewer);
    demand->began().raise();
    io::wait_until([&] { return state() == IngestState::waiting; });
    EXPECT_NE(pull_->facts().last_error, "");
    demand->remove(viewer);
    io::wait_until([&] { return state() == IngestState::idle; });
    EXPECT_EQ(pull_->facts().last_error, "");
}

TEST(Demand, WakesClientsOfAnAttemptThatFails) {
    const std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Demand demand;
    Signal signal;
    demand.add(signal);
    EXPECT_TRUE(demand.is_wanted(TimePoint())) << "a client waits";
    demand.note_failure("no camera");
    EXPECT_TRUE(signal.is_raised());
    EXPECT_EQ(demand.failures(), 1U);
    EXPECT_EQ(demand.last_error(), "no camera");
    demand.remove(signal);
    EXPECT_FALSE(demand.is_wanted(TimePoint()));
}

}  // namespace
}  // namespace live::service::ingest
