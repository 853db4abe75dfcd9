#include "media/source/wire_cursor.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/wire_log_fixture.hpp"
#include "media/wire_log/rtmp_wire_encoder.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace live::media {
namespace {

namespace rtmp = wire::rtmp;

constexpr std::uint32_t kChunkSize = 4096;

struct Got {
    rtmp::MessageType type;
    std::uint32_t time_ms;
    std::uint32_t number;
};

// A player whose socket accepts as many bytes as the test allows.
struct Player {
    explicit Player(Stage& stage, const WireFormat& format = {}) : cursor(stage.source, format), stage_(stage) {
        reader.set_chunk_size(kChunkSize);
    }

    // Reads up to `room` bytes. True if there was nothing more to send.
    bool read(std::size_t room) {
        std::array<::iovec, 8> spans;
        for (;;) {
            const auto batch = cursor.take(spans);
            if (batch.bytes == 0)
                return true;
            const std::size_t count = std::min(room, batch.bytes);
            feed(std::span(spans).first(batch.spans), count);
            cursor.advance(count);
            room -= count;
            if (count < batch.bytes)
                return false;
        }
    }
    void read_all() { EXPECT_TRUE(read(std::size_t{1} << 30)); }

    std::vector<Got> media() const {
        std::vector<Got> only;
        for (const Got& got : messages)
            if (got.number < 1'000'000)
                only.push_back(got);
        return only;
    }

    WireCursor cursor;
    rtmp::ChunkReader reader;
    std::vector<Got> messages;
    std::vector<std::string> syncs;  // the texts of the sync messages

private:
    void feed(std::span<::iovec> spans, std::size_t count) {
        for (const ::iovec& span : spans) {
            const std::size_t part = std::min(count, span.iov_len);
            Bytes input(static_cast<const std::uint8_t*>(span.iov_base), part);
            while (!input.empty())
                if (auto message = reader.read(input).value())
                    accept(*message);
            count -= part;
        }
    }
    void accept(const rtmp::Message& message) {
        if (message.type == rtmp::MessageType::user_control)
            return;
        const std::uint32_t number = number_of(message.payload);
        if (number < 1'000'000) {
            ASSERT_LT(number, stage_.sent.size());
            ASSERT_TRUE(std::ranges::equal(message.payload.bytes(), stage_.sent[number].payload.bytes()));
        }
        messages.push_back({message.type, message.timestamp_ms, number});
        if (const auto sync = read_sync_message(message.payload.bytes()); sync.ok())
            syncs.push_back(sync->text);
    }

    Stage& stage_;
};

// Expects every message from `from` on exactly once, on a clock that starts at the first packet's time.
void expect_continuous(const Stage& stage, const std::vector<Got>& got, std::uint32_t from, std::int64_t base_ms) {
    ASSERT_EQ(got.size(), stage.sent.size() - from);
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].number, from + i);
        const auto dts = std::chrono::duration_cast<std::chrono::milliseconds>(stage.sent[got[i].number].dts).count();
        ASSERT_EQ(got[i].time_ms, static_cast<std::uint32_t>(dts - base_ms)) << "packet " << got[i].number;
    }
}

TEST(WireCursor, JoinsAtTheCachedGopAndStartsAtZero) {
    Stage stage;
    stage.config();
    for (int i = 0; i < 60; ++i)
        stage.picture();
    Player player(stage);
    for (int i = 0; i < 30; ++i)
        stage.picture();
    player.read_all();
    ASSERT_GE(player.messages.size(), 3U);
    EXPECT_EQ(player.messages[0].number, 1'000'001U);
    EXPECT_EQ(player.messages[1].number, 1'000'003U);
    EXPECT_EQ(player.messages[2].number, 1'000'002U);
    EXPECT_EQ(player.messages[0].time_ms, 0U);
    expect_continuous(stage, player.media(), 100, 2000);
}

TEST(WireCursor, PlayersInSyncShareAPosition) {
    Stage stage;
    stage.config();
    for (int i = 0; i < 60; ++i)
        stage.picture();
    Player early(stage);
    early.read_all();
    for (int i = 0; i < 10; ++i)
        stage.picture();
    Player late(stage);
    late.read_all();
    early.read_all();
    EXPECT_TRUE(early.cursor.is_in_sync());
    EXPECT_TRUE(late.cursor.is_in_sync());
    EXPECT_EQ(early.cursor.position(), late.cursor.position());
    // From here on a cohort can send to both: the same bytes, each on its own clock.
    stage.picture();
    early.read_all();
    late.read_all();
    expect_continuous(stage, early.media(), 100, 2000);
    expect_continuous(stage, late.media(), 100, 2000);
}

TEST(WireCursor, SurvivesWritesCutAnywhere) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        Stage stage;
        stage.config();
        for (int i = 0; i < 55; ++i)
            stage.picture();
        Player player(stage);
        for (int i = 0; i < 120; ++i) {
            stage.picture();
            player.read(random() % 9'000);
        }
        player.read_all();
        expect_continuous(stage, player.media(), 100, 2000);
    }
}

TEST(WireCursor, LateReaderResumesAtNewestGopWithoutEffectOnOthers) {
    PlayOptions options;
    options.queue_length = 5s;
    Stage stage(options);
    stage.config();
    stage.picture();
    Player quick(stage);
    Player slow(stage);
    slow.read(10'000);  // stops inside the first key frame
    for (int i = 0; i < 500; ++i) {
        stage.picture();
        quick.read_all();
    }
    slow.read_all();
    expect_continuous(stage, quick.media(), 0, 0);
    const auto got = slow.media();
    ASSERT_GE(got.size(), 2U);
    EXPECT_EQ(got[0].number, 0U) << "the begun message is finished";
    EXPECT_EQ(got[1].number, 1000U) << "then the newest key frame";
    EXPECT_EQ(got[1].time_ms, 20'000U) << "on the same clock";
    EXPECT_EQ(slow.cursor.dropped(), 999U);
    EXPECT_EQ(stage.source->counters().dropped_packets, 999U);
    EXPECT_EQ(got.back().number, stage.number - 1);
}

TEST(WireCursor, LimitsTheRingOfASlowReaderToItsQueueLength) {
    PlayOptions options;
    options.queue_length = 4s;
    Stage stage(options);
    stage.config();
    stage.picture();
    Player slow(stage);
    slow.read(100);
    for (int i = 0; i < 3000; ++i)
        stage.picture();
    const auto span = stage.source->ring().newest().dts - stage.source->ring().at(stage.source->ring().first()).dts;
    EXPECT_LE(span, 13s);
}

TEST(WireCursor, BurstWithinQueueLengthOvertakesNoReader) {
    Stage stage;
    stage.config();
    Player early(stage);
    stage.picture();
    Player player(stage);
    player.read_all();
    for (int i = 0; i < 740; ++i)  // 29.6 s of media while nothing was sent
        stage.picture();
    player.read_all();
    early.read_all();
    for (const Player* each : {&early, &player}) {
        expect_continuous(stage, each->media(), 0, 0);
        EXPECT_EQ(each->cursor.dropped(), 0U);
    }
}

TEST(WireCursor, CountsPacketsThatABurstOverQueueLengthOvertakes) {
    Stage stage;
    stage.config();
    stage.picture();
    Player player(stage);
    player.read_all();
    for (int i = 0; i < 1'000; ++i)
        stage.picture();
    player.read_all();
    const auto got = player.media();
    EXPECT_EQ(got[1].number, 1U);
    EXPECT_TRUE(stage.sent[got[2].number].key);
    EXPECT_EQ(got.back().number, stage.number - 1);
    EXPECT_EQ(got.size() + player.cursor.dropped(), stage.sent.size());
    EXPECT_EQ(stage.source->counters().dropped_packets, player.cursor.dropped());
}

TEST(WireCursor, KindThatAppearsLaterReceivesAPrivateHeader) {
    Stage stage;
    stage.send(MediaKind::video, true, false, 0ms, payload_of(0, 100));
    Player player(stage);
    player.read_all();
    EXPECT_TRUE(player.cursor.is_in_sync());
    stage.send(MediaKind::audio, false, false, 700ms, payload_of(1, 100));
    EXPECT_FALSE(player.cursor.is_in_sync());
    stage.send(MediaKind::video, false, false, 740ms, payload_of(2, 100));
    player.read_all();
    expect_continuous(stage, player.media(), 0, 0);
}

TEST(WireCursor, TimeJumpBeyondADeltaReceivesAPrivateHeader) {
    Stage stage;
    stage.send(MediaKind::audio, false, false, 0ms, payload_of(0, 100));
    stage.send(MediaKind::video, true, false, 0ms, payload_of(1, 100));
    Player player(stage);
    player.read_all();
    stage.send(MediaKind::video, true, false, 17'000'000ms, payload_of(2, 100));
    stage.send(MediaKind::audio, false, false, 17'000'001ms, payload_of(3, 100));
    player.read_all();
    const auto got = player.messages;
    ASSERT_GE(got.size(), 2U);
    EXPECT_EQ(got.back().number, 3U);
    EXPECT_EQ(got.back().time_ms, 17'000'001U);
    EXPECT_EQ(got[got.size() - 2].time_ms, 17'000'000U);
}

TEST(WireCursor, DataIsAtZeroForEverybody) {
    Stage stage;
    stage.config();
    stage.picture();
    Player player(stage);
    player.read_all();
    stage.start = 0ms;
    for (int i = 0; i < 20; ++i)
        stage.picture();
    stage.send(MediaKind::data, false, false, 801ms, payload_of(stage.number, 100));
    stage.picture();
    player.read_all();
    EXPECT_TRUE(player.cursor.is_in_sync());
    const auto got = player.media();
    ASSERT_EQ(got.size(), stage.sent.size());
    EXPECT_EQ(got[42].type, rtmp::MessageType::amf0_data);
    EXPECT_EQ(got[42].time_ms, 0U);
    EXPECT_EQ(got[43].time_ms, 840U);
}

TEST(WireCursor, ExtendedTimeWithAMessageOverTheChunkSizeIsWrittenWhole) {
    Stage stage;
    stage.start = 20'000'000ms;
    stage.source->timeline().map(MediaKind::video, 0);
    PlayOptions options;
    options.time_jitter = TimeJitter::off;
    stage.source->set_options(options);
    stage.picture();
    stage.picture();
    Player player(stage);
    player.read_all();
    expect_continuous(stage, player.media(), 0, 0);
}

TEST(WireCursor, WithoutAGopCacheStartsWithTheNextPacketNearZero) {
    PlayOptions options;
    options.gop_cache = false;
    Stage stage(options);
    stage.config();
    for (int i = 0; i < 20; ++i)
        stage.picture();
    Player player(stage);
    player.read_all();
    EXPECT_TRUE(player.media().empty());
    stage.picture();
    player.read_all();
    const auto got = player.media();
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(got[0].number, 40U);
    EXPECT_EQ(got[0].time_ms, 40U);  // earlier frames bound the clock
    EXPECT_EQ(got[1].time_ms, 57U);
}

TEST(WireCursor, PlayerBeforeThePublisherGetsEverything) {
    Stage stage;
    Player player(stage);
    player.read_all();
    EXPECT_TRUE(player.messages.empty());
    stage.config();
    stage.picture();
    player.read_all();
    EXPECT_EQ(player.messages.size(), 5U);
    expect_continuous(stage, player.media(), 0, 0);
}

TEST(WireCursor, ControlBytesGoBetweenMessages) {
    Stage stage;
    stage.config();
    stage.picture();
    Player player(stage);
    player.read(500);
    ByteWriter ping;
    const std::array<std::uint8_t, 6> body{0, 6, 0, 0, 0, 1};
    rtmp::write_message(ping, rtmp::kControlChunkStream, rtmp::MessageType::user_control, 0, 0, body, kChunkSize);
    ASSERT_TRUE(player.cursor.add_control(ping.written()).ok());
    EXPECT_FALSE(player.cursor.is_in_sync());
    stage.picture();
    player.read_all();
    EXPECT_TRUE(player.cursor.is_in_sync());
    expect_continuous(stage, player.media(), 0, 0);
}

TEST(WireCursor, UnreadControlBytesAreBounded) {
    Stage stage;
    stage.config();
    stage.picture();
    Player player(stage);
    EXPECT_TRUE(player.cursor.add_control(std::vector<std::uint8_t>(WireCursor::kControlBytesMax)).ok());
    EXPECT_EQ(player.cursor.add_control(std::vector<std::uint8_t>(1)).code(), Errc::limit);
}

TEST(WireCursor, RunLivesAsLongAsItsReaders) {
    Stage stage;
    stage.config();
    {
        Player one(stage);
        Player two(stage);
        stage.picture();
        EXPECT_NE(stage.source->wire_logs().find(WireFormat()), nullptr);
        EXPECT_EQ(stage.source->readers().count(), 2U);
        EXPECT_GT(stage.pool.in_use(), 0U);
    }
    EXPECT_EQ(stage.source->wire_logs().find(WireFormat()), nullptr);
    EXPECT_EQ(stage.pool.in_use(), 0U);
}

// Many players with sockets of all speeds, joining and leaving. A failure prints its seed.
TEST(WireCursor, SimulatedCrowdGetsOrderedMediaOnOneClockEach) {
    for (std::uint32_t seed = 0; seed < rounds(8U, 30U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        PlayOptions options;
        options.queue_length = std::chrono::seconds(2 + random() % 5);
        options.gop_cache = random() % 4 != 0;
        Stage stage(options);
        stage.config();
        std::vector<std::unique_ptr<Player>> players;
        std::vector<std::size_t> speed;
        for (int i = 0; i < 800; ++i) {
            stage.picture();
            if (i % 40 == 0) {
                players.push_back(std::make_unique<Player>(stage));
                speed.push_back(random() % 5'000);
            }
            for (std::size_t p = 0; p < players.size(); ++p)
                players[p]->read(random() % 16 == 0 ? 200'000 : speed[p]);
        }
        for (const auto& player : players) {
            player->read_all();
            const auto got = player->media();
            ASSERT_FALSE(got.empty());
            EXPECT_EQ(got.back().number, stage.number - 1);
            const auto dts_ms = [&](const Got& one) { return stage.sent[one.number].dts / 1ms; };
            const auto clock = dts_ms(got.front()) - got.front().time_ms;
            for (std::size_t i = 1; i < got.size(); ++i) {
                ASSERT_GT(got[i].number, got[i - 1].number);
                ASSERT_EQ(dts_ms(got[i]) - got[i].time_ms, clock) << "packet " << got[i].number;
                if (got[i].number != got[i - 1].number + 1) {
                    ASSERT_TRUE(stage.sent[got[i].number].key || !options.gop_cache);
                }
            }
        }
    }
}

constexpr WireFormat kRelayed{.container = Container::rtmp,
                              .framing = Framing::none,
                              .kinds = MediaKindSet::all(),
                              .tracks = TrackSelection::all,
                              .receiver = Receiver::node};

TEST(WireCursor, SyncMessagesAreForOtherNodesOnly) {
    Stage stage;
    stage.config();
    stage.picture();
    Player viewer(stage);
    Player node(stage, kRelayed);
    stage.source->append_sync({"hls", "1", {}});
    stage.source->append_sync({"hls", "2", {}});
    stage.picture();
    Player late(stage, kRelayed);
    for (Player* player : {&viewer, &node, &late}) {
        player->read_all();
        EXPECT_EQ(player->media().size(), stage.sent.size());
        EXPECT_EQ(player->cursor.base_ms(), 0) << "the source's timeline";
    }
    EXPECT_TRUE(viewer.syncs.empty());
    EXPECT_EQ(node.syncs, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(late.syncs, (std::vector<std::string>{"2", "1", "2"})) << "the newest first, then those in the ring";
    EXPECT_EQ(stage.source->ring().size(), stage.sent.size()) << "they are not packets";
    // Nodes that join another publisher's stream get none of these.
    const auto other = Publication::start(stage.source, Takeover::replace);
    EXPECT_TRUE(stage.source->syncs().newest().empty());
}

// Without a GOP cache the log drops all packets, and messages follow before the next one.
TEST(WireCursor, NodeGetsSyncMessagesBetweenPacketsInAnyPieces) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        PlayOptions options;
        options.gop_cache = seed % 2 == 0;
        Stage stage(options);
        stage.config();
        stage.picture();
        Player node(stage, kRelayed);
        std::size_t sent = 0;
        for (int i = 0; i < 100; ++i) {
            stage.picture();
            for (std::size_t more = random() % 3; more > 0; --more)
                stage.source->append_sync({"hls", std::to_string(sent++), {}});
            if (random() % 2 == 0)
                node.read(random() % 4'000);
            if (random() % 10 == 0)
                node.read_all();
        }
        node.read_all();
        ASSERT_EQ(node.syncs.size(), sent) << "seed " << seed;
        for (std::size_t i = 0; i < sent; ++i)
            ASSERT_EQ(node.syncs[i], std::to_string(i)) << "seed " << seed;
    }
}

// The other tracks' packets are between those of the default ones, first of all after the place where a player joins.
TEST(WireCursor, PlayersWithoutMultitrackReceiveDefaultTracks) {
    constexpr WireFormat kTracks{
        .container = Container::rtmp, .framing = Framing::none, .kinds = MediaKindSet::all(), .tracks = TrackSelection::all};
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        Stage stage;
        std::vector<std::uint32_t> others;
        const auto other = [&](MediaKind kind, bool config) {
            Packet packet = plain_packet(kind, false, config, std::chrono::milliseconds(40 * stage.pictures + 9),
                                         payload_of(1'000'100 + static_cast<std::uint32_t>(others.size()), 300));
            packet.track = TrackId(1);
            others.push_back(number_of(packet.payload));
            stage.source->append(std::move(packet));
        };
        stage.config();
        other(MediaKind::video, true);
        other(MediaKind::audio, true);
        const auto picture = [&] {
            if (random() % 2 == 0)
                other(MediaKind::video, false);
            stage.picture();
            other(MediaKind::audio, false);
        };
        for (int i = 0; i < 55; ++i)
            picture();
        Player viewer(stage);
        Player tracks(stage, kTracks);
        for (int i = 0; i < 60; ++i) {
            picture();
            viewer.read(random() % 9'000);
            tracks.read(random() % 9'000);
        }
        for (Player* player : {&viewer, &tracks})
            player->read_all();
        expect_continuous(stage, viewer.media(), 100, 2000);
        ASSERT_EQ(viewer.messages.size(), viewer.media().size() + 3) << "and the default tracks' configurations";
        ASSERT_EQ(tracks.media().size(), viewer.media().size());
        std::vector<std::uint32_t> got;
        for (const Got& one : tracks.messages)
            if (one.number >= 1'000'100)
                got.push_back(one.number);
        ASSERT_GT(got.size(), 60U);
        std::ranges::sort(got.begin(), got.begin() + 2, {}, {});  // the configurations
        ASSERT_TRUE(std::ranges::equal(std::span(got).first(2), std::span(others).first(2)));
        ASSERT_TRUE(std::ranges::equal(std::span(got).subspan(2), std::span(others).last(got.size() - 2)));
    }
}

// Longer than the source keeps media for it: it has to jump, but not before it resumes.
TEST(WireCursor, APausedPlayerThatIsOvertakenGetsAnswersAndNoMediaUntilItResumes) {
    for (const bool message_by_message : {false, true}) {
        PlayOptions options;
        options.queue_length = 1s;
        Stage stage(options, kChunkSize);
        stage.config();
        stage.picture();
        Player player(stage);
        player.read_all();
        player.cursor.set_paused(true);
        const auto paused_at = player.cursor.position();
        for (int i = 0; i < 1'000; ++i)
            stage.picture();
        ASSERT_GT(player.cursor.wire_log().tail(), paused_at) << "what it has paused at is gone";

        std::array<::iovec, 8> spans;
        const auto take = [&] { return message_by_message ? player.cursor.take_message(spans) : player.cursor.take(spans); };
        EXPECT_EQ(take().bytes, 0U);
        const std::array<std::uint8_t, 3> answer{1, 2, 3};
        EXPECT_TRUE(player.cursor.add_control(answer).ok());
        ASSERT_EQ(take().bytes, answer.size());
        player.cursor.advance(answer.size());
        EXPECT_EQ(take().bytes, 0U);
        EXPECT_EQ(player.cursor.dropped(), 0U) << "not yet";

        const auto before = player.media().size();
        player.cursor.set_paused(false);
        player.read_all();
        const auto got = player.media();
        ASSERT_GT(got.size(), before);
        EXPECT_TRUE(stage.sent[got[before].number].key);
        EXPECT_EQ(got.back().number + 1, stage.number);
        EXPECT_EQ(got.size() + player.cursor.dropped(), stage.number);
    }
}

}  // namespace
}  // namespace live::media
