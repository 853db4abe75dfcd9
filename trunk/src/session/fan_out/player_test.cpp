// Tests of a player besides sending: ends, pauses, answers. delivery_test.cpp tests the sending.
#include "session/fan_out/player.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "media/source/wire_log_fixture.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::session {
namespace {

namespace rtmp = wire::rtmp;

using io::kSoon;

// A protocol that runs the action of the test when its client has sent something.
struct Protocol final : PlayerProtocol {
    Result<Step> on_readable() override {
        std::array<std::uint8_t, 64> said{};
        const auto count = stream->try_read(said);
        if (!count.ok() && count.code() == Errc::need_more)
            return Step::go_on;
        TRY(count);
        return on_input();
    }
    bool is_over() override { return over; }

    io::TcpStream* stream = nullptr;
    std::function<Result<Step>()> on_input = [] { return Result<Step>(Step::go_on); };
    bool over = false;
};

class PlayerTest : public testing::Test {
protected:
    enum class Sends : bool { by_cohort, by_itself };

    // A player at the beginning of the stage's source. Runs when start() is called.
    void make(const media::PlayOptions& options, Sends sends = Sends::by_cohort) {
        stage_.emplace(options);
        stage_->config();
        client_ = MUST(io::TcpStream::connect(listener_->endpoint(), io::Deadline::after(kSoon)));
        client_->forget();
        server_ = MUST(listener_->accept(io::Deadline::after(kSoon)));
        MUST(server_->set_send_buffer(64 << 10));
        cursor_.emplace(stage_->source, media::WireFormat());
        protocol_.stream = server_.get();
        player_.emplace(*server_, *cursor_, fan_out_, stage_->source->options(), protocol_, own_bytes_, log_);
        if (sends == Sends::by_itself)
            player_->set_duration(std::chrono::hours(24));
        parser_.set_chunk_size(stage_->source->wire_logs().chunk_size());
    }
    void start(std::chrono::milliseconds limit = kSoon) {
        MUST(players_.start("player", [this, limit](io::Deadline) { ended_ = player_->run(io::Deadline::after(limit)); }));
    }
    void TearDown() override {
        MUST(players_.stop(io::Deadline::after(kSoon)));
        player_.reset();
        cursor_.reset();
        MUST(wheels_.stop(io::Deadline::after(kSoon)));
    }
    static media::PlayOptions at_once() {
        media::PlayOptions options;
        options.mw_latency = {};
        return options;
    }
    // So many frames and their audio.
    void publish(int pictures) {
        for (; pictures > 0; --pictures)
            stage_->picture();
        stage_->source->flush();
    }
    void say() {
        const std::array<std::uint8_t, 1> word{'?'};
        EXPECT_EQ(MUST(client_->try_write(std::array{io::as_part(word)})), 1U);
    }
    void read() {
        std::array<std::uint8_t, 65'536> buffer{};
        for (auto count = client_->try_read(buffer); count.ok(); count = client_->try_read(buffer)) {
            Bytes input = Bytes(buffer).first(*count);
            while (!input.empty())
                if (auto message = MUST(parser_.read(input)))
                    messages_.push_back(*std::move(message));
        }
    }
    void wait_for_messages(std::size_t count) {
        io::wait_until([&] {
            read();
            return messages_.size() >= count;
        });
    }
    void wait_for_end() {
        io::wait_until([this] {
            read();
            return ended_.has_value();
        });
    }
    static ByteWriter pong() {
        ByteWriter out;
        rtmp::write_control(out, rtmp::UserControl{rtmp::UserControl::Event::ping_response, 7, 0});
        return out;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::unique_ptr<io::TcpListener> listener_ = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    io::Scope players_{"players"};
    io::Scope wheels_{"wheels"};
    FanOut fan_out_{wheels_};
    std::optional<media::Stage> stage_;
    std::unique_ptr<io::TcpStream> client_;
    std::unique_ptr<io::TcpStream> server_;
    std::optional<media::WireCursor> cursor_;
    Protocol protocol_;
    std::uint64_t own_bytes_ = 0;
    Log log_;
    std::optional<Player> player_;
    std::optional<Result<void>> ended_;
    rtmp::ChunkReader parser_;
    std::vector<rtmp::Message> messages_;
};

constexpr std::size_t kConfigs = 3;

TEST_F(PlayerTest, ADurationEndsItAfterThatMuchMedia) {
    make(at_once());
    player_->set_duration(2s);
    start();
    for (int second = 0; second < 5 && !ended_; ++second) {
        publish(25);
        MUST(io::sleep(io::Deadline::after(30ms)));
        read();
    }
    wait_for_end();
    ASSERT_EQ(ended_->code(), Errc::closed);
    EXPECT_EQ(ended_->error().sentence(), "played the 2000 ms asked for");
    ASSERT_FALSE(messages_.empty());
    EXPECT_GE(messages_.back().timestamp_ms, 1'900U);
    EXPECT_LT(messages_.back().timestamp_ms, 4'000U);
}

TEST_F(PlayerTest, AGapBetweenMessagesHoldsHoweverManyWait) {
    auto options = at_once();
    options.send_min_interval = 5ms;
    make(options);
    publish(10);
    const TimePoint begun = std::chrono::steady_clock::now();
    start();
    wait_for_messages(kConfigs + 20);
    // The configurations of a newcomer and its first message are one.
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 19 * 5ms);
    EXPECT_EQ(fan_out_.counters().sends, 0U);
}

TEST_F(PlayerTest, TheSocketsOptionIsSetWhenMediaHasBegun) {
    make(at_once());
    MUST(server_->set_no_delay(true));
    player_->set_no_delay(false);
    EXPECT_TRUE(server_->no_delay());
    start();
    io::wait_until([this] { return !server_->no_delay(); });
}

TEST_F(PlayerTest, APlayerOnItsOwnTicksSetsTheSocketsOption) {
    make(at_once(), Sends::by_itself);
    player_->set_no_delay(true);
    start();
    io::wait_until([this] { return server_->no_delay(); });
}

TEST_F(PlayerTest, APausedPlayerGetsAnswersAndNoMedia) {
    for (const Sends sends : {Sends::by_cohort, Sends::by_itself}) {
        messages_.clear();
        make(at_once(), sends);
        protocol_.on_input = [this]() -> Result<PlayerProtocol::Step> {
            player_->set_paused(true);
            const ByteWriter answer = pong();
            TRY(player_->answer(answer.written()));
            return PlayerProtocol::Step::go_on;
        };
        start();
        publish(1);
        wait_for_messages(kConfigs + 2);
        say();
        wait_for_messages(kConfigs + 3);
        EXPECT_EQ(messages_.back().type, rtmp::MessageType::user_control);
        EXPECT_TRUE(player_->figures().is_paused);
        publish(3);
        MUST(io::sleep(io::Deadline::after(20ms)));
        read();
        EXPECT_EQ(messages_.size(), kConfigs + 3);
        EXPECT_EQ(player_->figures().queued_packets, 6U);
        EXPECT_EQ(player_->figures().queue_delay, 97ms) << "40 + 40 + 17";
        client_->close();
        wait_for_end();
        EXPECT_EQ(std::exchange(ended_, {})->code(), Errc::closed);
        player_.reset();
        cursor_.reset();
    }
}

TEST_F(PlayerTest, ClosesForTooManyPendingAnswers) {
    make(at_once());
    const std::vector<std::uint8_t> much(media::WireCursor::kControlBytesMax + 1);
    protocol_.on_input = [&]() -> Result<PlayerProtocol::Step> {
        TRY(player_->answer({}));
        TRY(player_->answer(much));
        return PlayerProtocol::Step::go_on;
    };
    start();
    say();
    wait_for_end();
    EXPECT_EQ(ended_->code(), Errc::limit);
}

TEST_F(PlayerTest, StopsAfterAWholeMessage) {
    for (const Sends sends : {Sends::by_cohort, Sends::by_itself}) {
        messages_.clear();
        parser_ = {};
        make(at_once(), sends);
        protocol_.on_input = [] { return Result<PlayerProtocol::Step>(PlayerProtocol::Step::stopped); };
        start();
        // More than the socket accepts: the player stops in the middle of a message.
        publish(500);
        MUST(io::sleep(io::Deadline::after(20ms)));
        say();
        wait_for_end();
        EXPECT_TRUE(std::exchange(ended_, {})->ok());
        io::wait_until([this] {
            read();
            return parser_.held_bytes() == 0;
        });
        EXPECT_LT(messages_.size(), kConfigs + 1'000);
        EXPECT_GT(messages_.size(), kConfigs);
        player_.reset();
        cursor_.reset();
    }
}

TEST_F(PlayerTest, AClientThatDoesNotTakeTheEndIsGivenUp) {
    make(at_once());
    start(200ms);
    publish(500);
    protocol_.over = true;
    player_->wake().raise();
    io::wait_until([this] { return ended_.has_value(); });
    EXPECT_EQ(ended_->code(), Errc::timed_out);
}

TEST_F(PlayerTest, ClosesAClientThatLeavesBeforeTheEndOfTheStream) {
    make(at_once());
    publish(500);
    start();
    MUST(io::sleep(io::Deadline::after(10ms)));
    client_->close();
    protocol_.over = true;
    player_->wake().raise();
    io::wait_until([this] { return ended_.has_value(); });
    EXPECT_EQ(ended_->code(), Errc::closed);
}

TEST_F(PlayerTest, CohortSendsTheMediaOfAFastClient) {
    make(at_once());
    start();
    publish(1);
    wait_for_messages(kConfigs + 2);
    const std::uint64_t by_itself = own_bytes_;
    publish(25);
    wait_for_messages(kConfigs + 52);
    EXPECT_EQ(own_bytes_, by_itself);
    EXPECT_EQ(player_->sent_bytes(), own_bytes_ + fan_out_.counters().bytes);
    EXPECT_EQ(player_->figures().delivered_packets, 52U);
}

}  // namespace
}  // namespace live::session
