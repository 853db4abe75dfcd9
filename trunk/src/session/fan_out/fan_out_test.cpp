#include "session/fan_out/fan_out.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/fibers/wait_fixture.hpp"
#include "io/net/socket_pair_fixture.hpp"
#include "media/source/wire_log_fixture.hpp"

namespace live::session {
namespace {

// A player that takes everything it receives, and sends nothing.
struct BurstPlayer {
    BurstPlayer(const Ref<media::Source>& source, std::array<int, 2> ends, const media::WireFormat& format = {})
        : stream(io::Socket(ends[0]), {"127.0.0.1", 1}), reader(ends[1]), cursor(source, format) {}

    io::TcpStream stream;
    io::Socket reader;
    media::WireCursor cursor;
    Signal handed_back;
    CohortMember member{stream, cursor, handed_back};
};

class FanOutTest : public testing::Test {
protected:
    void TearDown() override {
        for (const auto& viewer : viewers_)
            fan_out_.leave(viewer->member);
        MUST(scope_.stop(io::Deadline::after(std::chrono::seconds(20))));
    }
    void join(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            viewers_.push_back(std::make_unique<BurstPlayer>(stage_->source, io::socket_pair()));
            MUST(fan_out_.join(viewers_.back()->member));
        }
    }
    // All cohorts share one slot.
    static media::PlayOptions one_slot() {
        media::PlayOptions options;
        options.mw_latency = FanOut::kTick;
        return options;
    }
    bool all_are_members() const {
        return std::ranges::all_of(viewers_, [](const auto& viewer) { return viewer->member.is_member; });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::optional<media::Stage> stage_;
    io::Scope scope_{"test"};
    FanOut fan_out_{scope_};
    std::vector<std::unique_ptr<BurstPlayer>> viewers_;
    std::uint64_t most_ = 0;  // sends or bytes between two turns of another fiber
};

TEST_F(FanOutTest, EightConsecutiveJoinsShareACohort) {
    stage_.emplace();
    join(3 * FanOut::kNeighbours);
    for (std::size_t i = 0; i < viewers_.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_EQ(viewers_[i]->member.cohort == viewers_[j]->member.cohort,
                      i / FanOut::kNeighbours == j / FanOut::kNeighbours);
}

TEST_F(FanOutTest, SendsToAnotherNodeAtOnceAfterAPauseAndMergesTheRest) {
    media::PlayOptions options;
    options.mw_latency = 400ms;
    stage_.emplace(options);
    stage_->config();
    media::WireFormat format;
    format.tracks = media::TrackSelection::all;
    format.receiver = media::Receiver::node;
    viewers_.push_back(std::make_unique<BurstPlayer>(stage_->source, io::socket_pair(), format));
    MUST(fan_out_.join(viewers_.back()->member));
    stage_->picture();
    stage_->source->flush();
    io::wait_until([this] { return all_are_members(); });
    static_cast<void>(io::sleep(io::Deadline::after(options.mw_latency)));
    const auto bytes = [this] { return viewers_.back()->member.sent_bytes(); };
    const auto pushed = [&](bool at_once) {
        const auto before = bytes();
        stage_->picture();
        stage_->source->flush();
        EXPECT_EQ(bytes() > before, at_once);
        return bytes();
    };
    pushed(true);
    const auto before = pushed(false);
    io::wait_until([&] { return bytes() > before; });
}

TEST_F(FanOutTest, OthersRunInTheMiddleOfATurnOfMany) {
    stage_.emplace(one_slot());
    constexpr std::size_t kPlayers = 2 * FanOut::kPlayersAtOnce + 40;
    stage_->config();
    join(kPlayers);
    stage_->picture();
    stage_->source->flush();
    io::wait_until([this] { return all_are_members(); });
    MUST(scope_.start("watcher", [&](io::Deadline deadline) {
        for (std::uint64_t before = fan_out_.counters().sends; io::yield(deadline).ok();) {
            const std::uint64_t sends = fan_out_.counters().sends;
            most_ = std::max(most_, sends - before);
            before = sends;
        }
    }));
    stage_->picture();
    stage_->source->flush();
    io::wait_until([&] { return fan_out_.counters().sends >= kPlayers; });
    EXPECT_GT(most_, 0U);
    EXPECT_LT(most_, 2 * FanOut::kPlayersAtOnce);
    for (const auto& viewer : viewers_)
        ASSERT_EQ(viewer->member.sent_bytes(), viewers_.front()->member.sent_bytes());
}

// A frame that is larger for all members together than one turn may send, but fits each member's socket.
class LargeFrame : public FanOutTest {
protected:
    static constexpr std::size_t kPlayers = 100;
    static constexpr std::size_t kFrameBytes = 90'000;
    static_assert(kPlayers * kFrameBytes > Cohort::kTurnBytes && kPlayers * kFrameBytes > kPlayers * Cohort::kShareMin);

    void become_members(const media::PlayOptions& options) {
        stage_.emplace(options);
        stage_->config();
        join(kPlayers);
        stage_->picture();
        stage_->source->flush();
        io::wait_until([this] { return all_are_members(); });
    }
    static void take_all(const BurstPlayer& viewer) {
        std::vector<std::uint8_t> block(Cohort::kShareMin);
        while (::read(viewer.reader.fd(), block.data(), block.size()) > 0) {
        }
    }
    void large_frame() {
        stage_->send(MediaKind::video, true, false, std::chrono::seconds(1), media::payload_of(stage_->number, kFrameBytes));
        stage_->source->flush();
    }
};

TEST_F(LargeFrame, IsSentInSeveralTurns) {
    become_members(one_slot());
    MUST(scope_.start("watcher", [&](io::Deadline deadline) {
        for (std::uint64_t before = fan_out_.counters().bytes; io::yield(deadline).ok();) {
            const std::uint64_t bytes = fan_out_.counters().bytes;
            most_ = std::max(most_, bytes - before);
            before = bytes;
        }
    }));
    const std::uint64_t before = fan_out_.counters().bytes;
    large_frame();
    io::wait_until([&] { return fan_out_.counters().bytes - before >= kPlayers * kFrameBytes; });
    EXPECT_LE(most_, kPlayers * Cohort::kShareMin);
    EXPECT_TRUE(all_are_members());
}

TEST_F(LargeFrame, IsTakenByPlayersWithoutAWindowInTurnsOfTheirOwn) {
    media::PlayOptions options;
    options.mw_latency = {};
    become_members(options);
    const std::uint64_t before = fan_out_.counters().bytes;
    large_frame();
    EXPECT_EQ(fan_out_.counters().bytes - before, kPlayers * Cohort::kShareMin);
    for (const auto& viewer : viewers_)
        EXPECT_TRUE(viewer->handed_back.is_raised());
}

// A frame larger than all turns of a tick can send.
TEST_F(LargeFrame, PlayersFinishAFrameOfManyTurnsThemselves) {
    constexpr std::size_t kWhole = (FanOut::kTurnsMax + 16) * Cohort::kShareMin;
    become_members(one_slot());
    const std::uint64_t before = fan_out_.counters().bytes;
    const auto sent = [&] { return fan_out_.counters().bytes - before; };
    stage_->send(MediaKind::video, true, false, std::chrono::seconds(1), media::payload_of(stage_->number, kWhole));
    stage_->source->flush();
    const auto limit = io::Deadline::after(io::kSoon);
    while (sent() < kPlayers * kWhole && fan_out_.counters().handed_back == 0 && !limit.expired()) {
        MUST(io::yield(limit));
        for (const auto& viewer : viewers_)
            take_all(*viewer);
    }
    EXPECT_EQ(sent(), kPlayers * FanOut::kTurnsMax * Cohort::kShareMin);
    EXPECT_EQ(fan_out_.counters().handed_back, kPlayers);
    for (const auto& viewer : viewers_)
        EXPECT_TRUE(viewer->handed_back.is_raised());
}

// All at the same tick, and each has much to get.
TEST_F(LargeFrame, NewPlayersReceiveItInSeveralTurns) {
    stage_.emplace(one_slot());
    stage_->config();
    large_frame();
    join(kPlayers);
    const std::uint64_t before = fan_out_.counters().bytes;
    io::wait_until([&] { return fan_out_.counters().bytes > before; });
    const std::uint64_t sent = fan_out_.counters().bytes - before;
    EXPECT_GE(sent, Cohort::kTurnBytes);
    EXPECT_LT(sent, Cohort::kTurnBytes + 2 * kFrameBytes);
    const auto handed_back = std::ranges::count_if(viewers_, [](const auto& viewer) { return viewer->handed_back.is_raised(); });
    EXPECT_EQ(static_cast<std::size_t>(handed_back), kPlayers - sent / kFrameBytes);
    io::wait_until([this] {
        for (const auto& viewer : viewers_)
            if (viewer->member.cohort == nullptr)
                MUST(fan_out_.join(viewer->member));
        return all_are_members();
    });
}

// A publisher that sends a burst between two turns.
class FanOutBurst : public FanOutTest {
protected:
    void become_members() {
        stage_.emplace();
        stage_->config();
        send(0);
        join(5);
        stage_->source->flush();
        io::wait_until([this] { return all_are_members(); });
        for (const auto& viewer : viewers_)
            before_.push_back(viewer->member.sent_bytes());
    }
    void send(int second) {
        const auto at = std::chrono::seconds(second);
        stage_->send(MediaKind::video, true, false, at, media::payload_of(stage_->number, 50));
        for (const int ms : {100, 400, 700})
            stage_->send(MediaKind::audio, false, false, at + std::chrono::milliseconds(ms),
                         media::payload_of(stage_->number, 20));
    }
    void wait_for_all() {
        io::wait_until([this] {
            return std::ranges::all_of(viewers_, [this](const auto& viewer) {
                return viewer->member.is_member &&
                       viewer->member.cohort->position() == stage_->source->wire_logs().find({})->head();
            });
        });
    }
    std::vector<std::uint64_t> before_;
};

TEST_F(FanOutBurst, AMemberThatIsNotDueYetIsNotOvertaken) {
    become_members();
    const auto from = stage_->source->wire_logs().find({})->head();
    for (int second = 1; second <= 28; ++second)
        send(second);
    const auto bytes = stage_->source->wire_logs().find({})->head() - from;
    wait_for_all();
    for (std::size_t i = 0; i < viewers_.size(); ++i) {
        EXPECT_EQ(viewers_[i]->member.sent_bytes() - before_[i], bytes);
        EXPECT_EQ(viewers_[i]->cursor.dropped(), 0U);
    }
}

TEST_F(FanOutBurst, CountsDropsOfEachPlayerAndKeepsWholeGops) {
    become_members();
    for (int second = 1; second <= 50; ++second)
        send(second);
    wait_for_all();
    for (const auto& viewer : viewers_)
        EXPECT_EQ(viewer->cursor.dropped(), 4 * 49U) << "all but the newest key frame's second";
    EXPECT_EQ(stage_->source->counters().dropped_packets, 5 * 4 * 49U);
}

}  // namespace
}  // namespace live::session
