// Player, FanOut and Cohort against a naive model: whatever the options, the sizes of packets and the speed of clients, each
// client receives a subsequence of the packets sent, whole, in order and with the right times. A client that stays within the
// source's bounds misses nothing; all loss is counted and ends at a key frame; every byte is counted once.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "base/rounds_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_identity_fixture.hpp"
#include "io/tls/tls_stream.hpp"
#include "media/source/wire_log_fixture.hpp"
#include "media/wire_log/flv_wire_encoder.hpp"
#include "session/fan_out/player.hpp"
#include "wire/flv/flv_file.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::session {
namespace {

namespace rtmp = wire::rtmp;

// The packets that Stage::config() sends first, with numbers of their own.
constexpr std::size_t kFirstConfigs = 3;
constexpr std::uint32_t kConfigNumbers = 1'000'000;
constexpr std::size_t kEverything = std::size_t{1} << 30;

// A publisher with random habits. Records the packets that it has sent.
struct Broadcast {
    explicit Broadcast(std::uint32_t seed)
        : random(seed), stage(options_for(random), std::array{128U, 4'096U, 60'000U}[random() % 3]) {
        const std::size_t kind = random() % 4;
        size_max = std::array{300U, 4'000U, 20'000U, 60'000U}[kind];
        packets_max = std::array{1'000U, 1'000U, 700U, 300U}[kind];
        is_large = random() % 3 == 0;
        gop = std::array{10U, 50U, 400U}[random() % 3];
        step_ms = static_cast<int>(5 + random() % 60);
        // Across the first extended timestamp of RTMP, too.
        time = std::chrono::milliseconds(random() % 2 == 0 ? 0 : rtmp::kExtendedTimestamp - 5'000);
        stage.config();
    }

    static media::PlayOptions options_for(std::mt19937& random) {
        media::PlayOptions options;
        options.gop_cache = random() % 3 != 0;
        options.gop_cache_frames_max = random() % 3 == 0 ? 200 : 0;
        options.queue_length = std::chrono::seconds(1 + random() % 20);
        options.time_jitter = random() % 3 == 0 ? media::TimeJitter::off : media::TimeJitter::full;
        options.atc = random() % 4 == 0;
        options.mw_latency = std::chrono::milliseconds(std::array{0, 0, 10, 30}[random() % 4]);
        options.mw_msgs = std::array{0U, 2U, 8U}[random() % 3];
        options.send_min_interval = std::chrono::microseconds(random() % 5 == 0 ? 100 : 0);
        options.history_min = random() % 3 == 0 ? 2s : 0s;
        return options;
    }
    media::Source& source() { return *stage.source; }
    // A change of the video's configuration comes right before a key frame, as encoders send it.
    void packet() {
        time += std::chrono::milliseconds(step_ms);
        const bool is_video = random() % 3 != 0;
        const bool key = is_video && pictures++ % gop == 0;
        if (key && random() % 4 == 0)
            send(MediaKind::video, false, true);
        send(is_video ? MediaKind::video : MediaKind::audio, key, false);
    }
    void send(MediaKind kind, bool key, bool config) {
        if (config)
            video_config = stage.number;
        config_of.push_back(video_config);
        stage.send(kind, key, config, time, media::payload_of(stage.number, size_of_packet()));
    }
    // Some are so large that logs refer to them instead of copying.
    std::size_t size_of_packet() {
        if (is_large && random() % 40 == 0)
            return media::SlabLog::kSharedMin - 10 + random() % (media::SlabLog::kSharedMin / 2);
        return 4 + random() % size_max;
    }
    // Frames of `kinds` in [from, to).
    std::size_t frames(std::size_t from, std::size_t to, MediaKindSet kinds) const {
        std::size_t count = 0;
        for (std::size_t i = from; i < to; ++i)
            count += !stage.sent[i].is_config() && kinds.has(stage.sent[i].kind) ? 1 : 0;
        return count;
    }

    std::mt19937 random;
    media::Stage stage;
    std::uint32_t size_max = 0;
    std::uint32_t packets_max = 0;
    bool is_large = false;
    std::uint32_t gop = 0;
    std::uint32_t pictures = 0;
    int step_ms = 0;
    MediaTime time{};
    std::uint32_t video_config = kConfigNumbers + 2;
    std::vector<std::uint32_t> config_of;  // by number: the newest configuration of the video
};

// One message as a client's parser gives it.
struct Received {
    std::uint32_t time_ms = 0;
    Slice payload;
};

class Parser {
public:
    virtual ~Parser() = default;
    virtual void feed(Bytes input, std::vector<Received>& out) = 0;
    // Reports whether the parser is between two messages, as far as it can detect that.
    virtual bool at_boundary() const = 0;
    std::size_t answers = 0;
};

class RtmpParser final : public Parser {
public:
    explicit RtmpParser(std::uint32_t chunk_size) { reader_.set_chunk_size(chunk_size); }
    void feed(Bytes input, std::vector<Received>& out) override {
        while (!input.empty()) {
            auto message = MUST(reader_.read(input));
            if (message && message->type == rtmp::MessageType::user_control)
                ++answers;
            else if (message)
                out.push_back({message->timestamp_ms, std::move(message->payload)});
        }
    }
    bool at_boundary() const override { return reader_.held_bytes() == 0; }

private:
    rtmp::ChunkReader reader_;
};

class FlvParser final : public Parser {
public:
    void feed(Bytes input, std::vector<Received>& out) override {
        while (!input.empty()) {
            input = input.subspan(MUST(reader_.feed(input)));
            if (auto tag = reader_.next())
                out.push_back({tag->header.timestamp_ms, std::move(tag->body)});
        }
    }
    bool at_boundary() const override { return reader_.unfinished_bytes() == 0; }

private:
    wire::flv::FlvReader reader_;
};

enum class Habit : std::uint8_t { takes_all, takes_some, takes_little, sleeps, pauses, asks, stops, leaves };
constexpr std::array kHabits{Habit::takes_all, Habit::takes_some, Habit::takes_little, Habit::sleeps,
                             Habit::pauses,    Habit::asks,       Habit::stops,        Habit::leaves};

// A connection over loopback.
struct Ends {
    std::unique_ptr<io::Stream> client;
    std::unique_ptr<io::Stream> server;
};

// A player over loopback and the client at the other end.
class Viewer final : public PlayerProtocol {
public:
    struct Way {
        media::WireFormat format;
        bool by_cohort = true;
        bool by_tls = false;
        Habit habit = Habit::takes_all;
    };

    Viewer(Broadcast& broadcast, FanOut& fan_out, Ends ends, const Way& way)
        : broadcast_(broadcast),
          way_(way),
          client_(std::move(ends.client)),
          server_(std::move(ends.server)),
          joined_(broadcast.source().retention().join_point() - kFirstConfigs),
          cursor_(broadcast.stage.source, way.format, head_of(way.format)),
          player_(*server_, cursor_, fan_out, broadcast.source().options(), *this, own_bytes_, log_) {
        client_tcp().forget();  // it has no waiter: each read goes to the kernel
        if (!way.by_cohort)
            player_.set_duration(std::chrono::hours(24));
        if (is_rtmp())
            parser_ = std::make_unique<RtmpParser>(broadcast.source().wire_logs().chunk_size());
        else
            parser_ = std::make_unique<FlvParser>();
        expected_base_ = cursor_.base_ms();
        if (broadcast.source().keeps_publisher_time()) {
            EXPECT_EQ(expected_base_, 0);
        }
    }

    void run(io::Deadline deadline) { ended_ = player_.run(deadline); }
    Result<Step> on_readable() override {
        std::array<std::uint8_t, 64> said{};
        const auto count = server_->try_read(said);
        if (!count.ok() && count.code() == Errc::need_more)
            return Step::go_on;
        for (const std::uint8_t word : Bytes(said).first(TRY(count))) {
            if (word == 's')
                return Step::stopped;
            if (word == 'a')
                TRY(answer());
            else
                player_.set_paused(word == 'p');
        }
        return Step::go_on;
    }
    bool is_over() override { return over_; }

    // After each packet: has it been within the bounds, so that it may miss nothing?
    void look() {
        const std::size_t next = numbers_.empty() ? joined_ : numbers_.back() + 1;
        const auto& sent = broadcast_.stage.sent;
        if (next < sent.size())
            was_within_ = was_within_ && broadcast_.time - sent[next].dts <= broadcast_.source().options().queue_length;
    }
    // Called after each batch: acts as a client with this habit does.
    void act() {
        auto& random = broadcast_.random;
        const bool rarely = random() % 30 == 0;
        switch (way_.habit) {
            case Habit::takes_all: read(kEverything); break;
            case Habit::takes_some: read(random() % (8 * broadcast_.size_max)); break;
            case Habit::takes_little: read(rarely ? random() % (8 * broadcast_.size_max) : 0); break;
            case Habit::sleeps: read(rarely ? kEverything : 0); break;
            case Habit::pauses:
                if (random() % 10 == 0)
                    say(std::exchange(paused_, !paused_) ? 'r' : 'p');
                read(kEverything);
                break;
            case Habit::asks:
                if (random() % 4 == 0)
                    ask();
                if (rarely && way_.by_tls && ++key_updates_ < io::TlsStream::kKeyUpdatesMax)
                    MUST(client_->as_tls()->update_keys());
                read(rarely ? kEverything : random() % (4 * broadcast_.size_max));
                break;
            case Habit::stops:
            case Habit::leaves: act_once(rarely); break;
        }
        if (client_tcp().is_open()) {
            EXPECT_LE(received_bytes_, player_.sent_bytes());
        }
    }
    void resume() {
        if (std::exchange(paused_, false))
            say('r');
    }
    void end_of_stream() {
        over_ = true;
        player_.wake().raise();
    }
    void read(std::size_t room) {
        std::array<std::uint8_t, 16'384> buffer{};
        while (room > 0 && client_tcp().is_open()) {
            const auto count = client_->try_read(MutBytes(buffer).first(std::min(room, buffer.size())));
            if (!count.ok())
                return;
            received_bytes_ += *count;
            room -= *count;
            parser_->feed(Bytes(buffer).first(*count), messages_);
            for (const Received& message : std::exchange(messages_, {}))
                got(message);
        }
    }
    bool has_all() const { return ended_ && (!client_tcp().is_open() || received_bytes_ == player_.sent_bytes()); }
    void expect_right() const;

    // The player has answered everything that its client sent.
    bool is_served() const { return answered_ == asked_ && (way_.habit != Habit::pauses || !player_.figures().is_paused); }
    std::uint64_t dropped() const { return cursor_.dropped(); }
    std::uint64_t sent_bytes() const { return player_.sent_bytes(); }
    std::uint64_t own_bytes() const { return own_bytes_; }

private:
    static std::vector<std::uint8_t> head_of(const media::WireFormat& format) {
        return format.container == media::Container::flv ? media::flv_file_head(format.framing, format.kinds)
                                                         : std::vector<std::uint8_t>();
    }
    io::TcpStream& client_tcp() const { return way_.by_tls ? client_->as_tls()->tcp() : *client_->as_tcp(); }
    bool is_rtmp() const { return way_.format.container == media::Container::rtmp; }
    Result<void> answer() {
        ++answered_;
        ByteWriter pong;
        rtmp::write_control(pong, rtmp::UserControl{rtmp::UserControl::Event::ping_response, 7, 0});
        return player_.answer(pong.written());
    }
    void say(char word) {
        const auto byte = static_cast<std::uint8_t>(word);
        EXPECT_EQ(MUST(client_->try_write(std::array{io::as_part(Bytes(&byte, 1))})), 1U);
    }
    void ask() {
        if (!is_rtmp())
            return;
        say('a');
        ++asked_;
    }
    void act_once(bool now) {
        if (!now || has_stopped_) {
            read(has_stopped_ ? kEverything : broadcast_.random() % (8 * broadcast_.size_max));
            return;
        }
        has_stopped_ = true;
        if (way_.habit == Habit::leaves)
            client_->close();
        else
            say('s');
    }
    void got(const Received& message);
    void got_frame(std::uint32_t number, std::uint32_t time_ms);

    Broadcast& broadcast_;
    Way way_;
    std::unique_ptr<io::Stream> client_;
    std::unique_ptr<io::Stream> server_;
    std::unique_ptr<Parser> parser_;
    std::size_t joined_;  // the number of its first packet
    std::uint64_t own_bytes_ = 0;
    Log log_;
    media::WireCursor cursor_;
    Player player_;
    std::optional<Result<void>> ended_;
    std::size_t answered_ = 0;
    bool over_ = false;

    // The client's state.
    std::vector<Received> messages_;
    std::vector<std::uint32_t> numbers_;  // of the frames it got
    std::uint64_t received_bytes_ = 0;
    std::int64_t expected_base_ = 0;
    std::optional<std::uint32_t> video_config_;
    std::size_t asked_ = 0;
    std::uint32_t key_updates_ = 0;
    bool paused_ = false;
    bool has_stopped_ = false;
    bool was_within_ = true;
};

void Viewer::got(const Received& message) {
    const std::uint32_t number = media::number_of(message.payload);
    if (number >= kConfigNumbers) {
        EXPECT_TRUE(numbers_.empty() || dropped() > 0) << "what a newcomer needs comes first, and again after a loss";
        if (number == kConfigNumbers + 2)
            video_config_ = number;
        return;
    }
    const auto& sent = broadcast_.stage.sent;
    ASSERT_LT(number, sent.size());
    ASSERT_TRUE(std::ranges::equal(message.payload.bytes(), sent[number].payload.bytes())) << number;
    if (sent[number].is_config())
        video_config_ = number;
    else
        got_frame(number, message.time_ms);
}

void Viewer::got_frame(std::uint32_t number, std::uint32_t time_ms) {
    const media::Packet& packet = broadcast_.stage.sent[number];
    ASSERT_TRUE(way_.format.kinds.has(packet.kind));
    ASSERT_GE(number, joined_);
    ASSERT_TRUE(numbers_.empty() || number > numbers_.back()) << number << " after " << numbers_.back();
    const auto expected = std::max<std::int64_t>(media::to_ms(packet.dts) - expected_base_, 0);
    ASSERT_EQ(time_ms, static_cast<std::uint32_t>(expected)) << number;
    if (packet.kind == MediaKind::video) {
        ASSERT_EQ(video_config_, broadcast_.config_of[number]) << "frame " << number << " comes after its configuration";
    }
    const std::size_t next = numbers_.empty() ? joined_ : numbers_.back() + 1;
    const auto& options = broadcast_.source().options();
    const bool keeps_gop = options.gop_cache && options.gop_cache_frames_max == 0 && way_.format.kinds == MediaKindSet::all();
    if (keeps_gop && broadcast_.frames(next, number, way_.format.kinds) > 0) {
        ASSERT_TRUE(packet.key) << "after a loss it goes on at a key frame, not at " << number;
    }
    numbers_.push_back(number);
}

void Viewer::expect_right() const {
    SCOPED_TRACE("habit " + std::to_string(static_cast<int>(way_.habit)) + (way_.by_cohort ? " cohort" : " own ticks") +
                 (way_.by_tls ? " tls" : "") + (is_rtmp() ? " rtmp" : " flv") + " joined " + std::to_string(joined_));
    ASSERT_TRUE(ended_.has_value());
    if (way_.habit == Habit::leaves && has_stopped_) {
        EXPECT_FALSE(ended_->ok());
        return;
    }
    EXPECT_TRUE(ended_->ok()) << ended_->error().text();
    EXPECT_TRUE(parser_->at_boundary()) << "it ends between two messages";
    EXPECT_EQ(parser_->answers, asked_);
    if (way_.habit == Habit::stops && has_stopped_)
        return;
    const auto& sent = broadcast_.stage.sent;
    const std::size_t missed = broadcast_.frames(joined_, sent.size(), way_.format.kinds) - numbers_.size();
    const std::size_t others = (sent.size() - joined_) - broadcast_.frames(joined_, sent.size(), way_.format.kinds);
    EXPECT_GE(dropped(), missed) << "what it did not get is counted";
    EXPECT_LE(dropped(), missed + others) << "beside configurations and packets that its format leaves out";
    if (was_within_) {
        EXPECT_EQ(dropped(), 0U) << "it was never out of bounds";
    }
    const ClientFigures figures = player_.figures();
    EXPECT_EQ(figures.sent_bytes, received_bytes_);
    EXPECT_EQ(figures.dropped_packets, dropped());
    if (way_.format.kinds == MediaKindSet::all()) {
        EXPECT_EQ(figures.queued_packets, 0U);
        EXPECT_EQ(figures.delivered_packets + figures.dropped_packets, sent.size() - joined_);
    }
    EXPECT_FALSE(figures.is_paused);
}

class Delivery : public testing::Test {
protected:
    // With `by_tls` every other player uses TLS.
    void watch(std::uint32_t seed, bool by_tls = false) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        by_tls_ = by_tls;
        Broadcast broadcast(seed);
        io::Scope players("players");
        io::Scope wheels("wheels");
        FanOut fan_out(wheels, seed % 2 == 0 ? io::FanSender::Use::plain_sends : io::FanSender::Use::io_uring);
        std::vector<std::unique_ptr<Viewer>> viewers;
        for (std::uint32_t batch = 0; broadcast.stage.number < broadcast.packets_max; ++batch) {
            if (batch % 40 == 0)
                join(broadcast, fan_out, players, viewers);
            for (std::size_t count = 1 + broadcast.random() % 8; count > 0; --count) {
                broadcast.packet();
                for (const auto& viewer : viewers)
                    viewer->look();
            }
            broadcast.source().flush();
            give_way(batch);
            for (const auto& viewer : viewers)
                viewer->act();
        }
        finish(viewers);
        std::uint64_t sent = 0, own = 0, dropped = 0;
        for (const auto& viewer : viewers) {
            viewer->expect_right();
            sent += viewer->sent_bytes();
            own += viewer->own_bytes();
            dropped += viewer->dropped();
        }
        EXPECT_EQ(sent, own + fan_out.counters().bytes) << "each byte is counted once";
        EXPECT_EQ(broadcast.source().counters().dropped_packets, dropped);
        dropped_ += dropped;
        MUST(players.stop(io::Deadline::after(io::kSoon)));
        viewers.clear();
        MUST(wheels.stop(io::Deadline::after(io::kSoon)));
    }

    std::uint64_t dropped_ = 0;

private:
    // One of each habit.
    void join(Broadcast& broadcast, FanOut& fan_out, io::Scope& players, std::vector<std::unique_ptr<Viewer>>& viewers) {
        MediaKindSet audio_only;
        audio_only.add(MediaKind::audio);
        const std::array formats{media::WireFormat{}, media::WireFormat{},
                                 media::WireFormat{media::Container::flv, media::Framing::none, MediaKindSet::all()},
                                 media::WireFormat{media::Container::flv, media::Framing::none, audio_only}};
        for (const Habit habit : kHabits) {
            const Viewer::Way way{formats[broadcast.random() % formats.size()], broadcast.random() % 4 != 0,
                                  by_tls_ && viewers.size() % 2 == 0, habit};
            viewers.push_back(std::make_unique<Viewer>(broadcast, fan_out, connect(way.by_tls), way));
            Viewer* const viewer = viewers.back().get();
            MUST(players.start("player", [viewer](io::Deadline deadline) { viewer->run(deadline); }));
        }
    }
    Ends connect(bool by_tls) {
        const auto limit = io::Deadline::after(io::kSoon);
        auto client = MUST(io::TcpStream::connect(listener_->endpoint(), limit));
        auto server = MUST(listener_->accept(limit));
        if (!by_tls)
            return {std::move(client), std::move(server)};
        Ends ends;
        io::Scope handshake("handshake");
        MUST(handshake.start(
            "server", [&](io::Deadline) { ends.server = MUST(io::TlsStream::accept(std::move(server), *context_, limit)); }));
        ends.client = MUST(io::TlsStream::connect(std::move(client), *trusting_, "live.test", limit));
        MUST(handshake.join(limit));
        return ends;
    }
    // Everybody's turn; now and then ticks go by.
    static void give_way(std::uint32_t batch) {
        if (batch % 16 == 0)
            MUST(io::sleep(io::Deadline::after(12ms)));
        else
            MUST(io::yield(io::Deadline::never()));
    }
    static void finish(const std::vector<std::unique_ptr<Viewer>>& viewers) {
        for (const auto& viewer : viewers)
            viewer->resume();
        io::wait_until([&viewers] {
            for (const auto& viewer : viewers)
                viewer->read(kEverything);
            return std::ranges::all_of(viewers, [](const auto& viewer) { return viewer->is_served(); });
        });
        for (const auto& viewer : viewers)
            viewer->end_of_stream();
        io::wait_until([&viewers] {
            bool all = true;
            for (const auto& viewer : viewers) {
                viewer->read(kEverything);
                all = all && viewer->has_all();
            }
            return all;
        });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::unique_ptr<io::TcpListener> listener_ = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    io::TlsIdentity identity_{"delivery"};
    std::unique_ptr<io::TlsContext> context_ = MUST(io::TlsContext::server(identity_.certificate_path, identity_.key_path));
    std::unique_ptr<io::TlsContext> trusting_ = MUST(io::TlsContext::client(io::TlsVerify::none));
    bool by_tls_ = false;
};

TEST_F(Delivery, ClientsReceiveEverythingExceptCountedLosses) {
    for (std::uint32_t seed = 0; seed < rounds(4U, 12U); ++seed)
        watch(seed);
    // Found players of audio alone that stood still.
    for (const std::uint32_t seed : {115U, 117U})
        watch(seed);
    EXPECT_GT(dropped_, 0U) << "some of them were too slow";
}

TEST_F(Delivery, TlsClientsReceiveTheSameAsPlainOnes) {
    for (std::uint32_t seed = 20; seed < 20 + rounds(4U, 12U); ++seed)
        watch(seed, true);
}

}  // namespace
}  // namespace live::session
