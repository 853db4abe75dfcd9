#include "media/rtp/frames_to_rtp.hpp"

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/rtp_reader_fixture.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::media {
namespace {

using namespace bridge_test;

struct FramesToRtpTest : ::testing::Test {
    void SetUp() override {
        options.bridge.rtmp_to_rtc = true;
        source->set_options(options);
        source->rtp_logs().set_conversion(&transcoders, log);
    }
    void append(Packet packet) {
        source->set_arrival(TimePoint{} + packet.dts);
        source->append(std::move(packet));
    }
    void configs() {
        append(avc_config());
        append(audio_packet(Codec::aac, Content::config, {}, hex("1210")));
    }
    void picture(MediaTime time, Picture is) {
        append(avc_frame(is, time, {is == Picture::key ? idr(2'000) : inter(500)}));
        source->flush();
    }
    void audio(MediaTime time) {
        append(audio_packet(Codec::aac, Content::frame, time, Octets(30, 7)));
        source->flush();
    }

    SlabPool pool;
    PlayOptions options;
    Lines lines;
    Log log{lines, "test"};
    EchoTranscoders transcoders;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
};

TEST_F(FramesToRtpTest, ExistsOnlyWhileSomebodyReads) {
    const auto publication = Publication::start(source, Takeover::refuse);
    configs();
    picture(0ms, Picture::key);
    EXPECT_EQ(source->rtp_logs().converter(), nullptr);
    EXPECT_TRUE(transcoders.made.empty());
    {
        const RtpReader one(source);
        const FramesToRtp* const converter = source->rtp_logs().converter();
        EXPECT_NE(converter, nullptr);
        const RtpReader two(source);
        EXPECT_EQ(source->rtp_logs().converter(), converter);
        EXPECT_EQ(transcoders.made.size(), 1U) << "one for all players";
    }
    EXPECT_EQ(source->rtp_logs().converter(), nullptr);
}

TEST_F(FramesToRtpTest, FirstPlayerGetsTheFramesSinceTheKeyFrame) {
    const auto publication = Publication::start(source, Takeover::refuse);
    configs();
    for (int i = 0; i < 60; ++i) {
        picture(i * 40ms, i % 25 == 0 ? Picture::key : Picture::inter);
        audio(i * 40ms);
    }
    RtpReader player(source);
    ASSERT_NE(player.peek(), nullptr);
    EXPECT_TRUE(player.peek()->begins_key);
    EXPECT_EQ(player.peek()->time, 2s);
    EXPECT_TRUE(packets_of(player.rtp_log(), MediaKind::audio).empty()) << "old audio is not made Opus";
    audio(2'400ms);
    EXPECT_TRUE(player.readable().is_raised());
    EXPECT_EQ(packets_of(player.rtp_log(), MediaKind::audio).size(), 1U);
}

// A GOP of more bytes than are converted at once.
struct LongGopTest : FramesToRtpTest {
    void SetUp() override {
        FramesToRtpTest::SetUp();
        configs();
        picture(0ms, Picture::key);
        for (int i = 1; i < kFrames; ++i) {
            append(avc_frame(Picture::inter, i * 40ms, {inter(WireLogs::kCatchUpBytes / 4)}));
            audio(i * 40ms);
        }
    }
    MediaTime newest(const RtpLog& rtp_log) const { return rtp_log.at(rtp_log.next() - 1).time; }

    static constexpr int kFrames = 40;
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
};

TEST_F(LongGopTest, FirstPlayerGetsItInPieces) {
    RtpReader player(source);
    ASSERT_NE(player.peek(), nullptr);
    EXPECT_EQ(player.peek()->time, 0ms);
    EXPECT_LT(newest(player.rtp_log()), 400ms);
    int pieces = 1;
    for (; !source->rtp_logs().catch_up({}, WireLogs::kCatchUpBytes); ++pieces)
        EXPECT_LT(newest(player.rtp_log()), (pieces + 2) * 4 * 40ms);
    EXPECT_GT(pieces, 5);
    EXPECT_EQ(newest(player.rtp_log()), (kFrames - 1) * 40ms);
    EXPECT_TRUE(packets_of(player.rtp_log(), MediaKind::audio).empty());
    audio(kFrames * 40ms);
    picture(kFrames * 40ms, Picture::inter);
    EXPECT_EQ(newest(player.rtp_log()), kFrames * 40ms);
    EXPECT_EQ(packets_of(player.rtp_log(), MediaKind::audio).size(), 1U);
}

TEST_F(LongGopTest, CatchesUpWithEachAppendedPacket) {
    const RtpReader player(source);
    for (int i = 0; i < 20; ++i) {
        audio(kFrames * 40ms + i * 20ms);
        picture(kFrames * 40ms + i * 20ms, Picture::inter);
    }
    RtpLog& rtp_log = *source->rtp_logs().find();
    EXPECT_EQ(newest(rtp_log), kFrames * 40ms + 19 * 20ms);
    EXPECT_EQ(packets_of(rtp_log, MediaKind::audio).size(), 20U) << "what came since the player did";
}

TEST_F(LongGopTest, SkipsPacketsThatTheRingHasDropped) {
    const RtpReader player(source);
    source->retention().release_oldest(SIZE_MAX);
    picture(4s, Picture::key);
    EXPECT_EQ(newest(*source->rtp_logs().find()), 4s);
    EXPECT_TRUE(source->rtp_logs().catch_up({}, 1));
}

TEST_F(FramesToRtpTest, LogsTheFirstFrameThatCannotBeConverted) {
    const auto publication = Publication::start(source, Takeover::refuse);
    const RtpReader player(source);
    configs();
    for (const MediaTime at : {0ms, 40ms}) {
        Packet cut = avc_frame(Picture::key, at, {idr(200)});
        cut.payload = cut.payload.sub(0, cut.payload.size() - 1);
        append(std::move(cut));
    }
    EXPECT_EQ(lines.count("could not be converted to RTP"), 1U);
    picture(80ms, Picture::key);
    EXPECT_EQ(source->rtp_logs().converter()->video().counters().frames, 1U);
}

TEST_F(FramesToRtpTest, PlayerMayBeThereFirst) {
    RtpReader player(source);
    EXPECT_EQ(source->rtp_logs().converter(), nullptr);
    auto publication = *Publication::start(source, Takeover::refuse);
    configs();
    picture(0ms, Picture::key);
    ASSERT_NE(player.peek(), nullptr);
    EXPECT_TRUE(player.peek()->begins_key);
    publication.reset();
    EXPECT_EQ(source->rtp_logs().converter(), nullptr);

    publication = *Publication::start(source, Takeover::refuse);
    const std::uint16_t last = player.rtp_log().at(player.rtp_log().next() - 1).sequence;
    const Sequence before = player.rtp_log().next();
    append(avc_config());
    EXPECT_EQ(player.rtp_log().next(), before) << "what the publisher before left is not sent again";
    EXPECT_FALSE(player.rtp_log().gop_start());
    picture(2s, Picture::key);
    EXPECT_EQ(player.rtp_log().at(before).sequence, static_cast<std::uint16_t>(last + 1));
}

// RTP logs of chosen tracks, held as a player holds them.
struct HeldRtpLog {
    HeldRtpLog(Ref<Source> held, const TrackChoice& tracks)
        : source(std::move(held)), choice(tracks), rtp_log(source->rtp_logs().hold(choice)) {}
    ~HeldRtpLog() { source->rtp_logs().release(choice); }
    HeldRtpLog(const HeldRtpLog&) = delete;
    HeldRtpLog& operator=(const HeldRtpLog&) = delete;

    Ref<Source> source;
    TrackChoice choice;
    RtpLog& rtp_log;
};

TEST_F(FramesToRtpTest, PlayersChooseTracks) {
    const auto other = [](Packet packet) {
        packet.track = TrackId(1);
        return packet;
    };
    const auto publication = Publication::start(source, Takeover::refuse);
    configs();
    append(other(avc_config()));
    append(other(audio_packet(Codec::aac, Content::config, {}, hex("1190"))));
    picture(0ms, Picture::key);
    append(other(avc_frame(Picture::key, 0ms, {idr(700)})));
    append(other(avc_frame(Picture::inter, 40ms, {inter(300)})));
    const std::optional<TrackId> second = TrackId(1);
    {
        const RtpReader plain(source);
        const HeldRtpLog pictures(source, {{}, second});
        const HeldRtpLog both(source, {second, second});
        EXPECT_NE(&pictures.rtp_log, &both.rtp_log);
        EXPECT_EQ(source->readers().count(), 3U);
        EXPECT_EQ(source->rtp_logs().find({{}, second}), &pictures.rtp_log);
        append(audio_packet(Codec::aac, Content::frame, 50ms, Octets(30, 7)));
        append(other(audio_packet(Codec::aac, Content::frame, 50ms, Octets(31, 8))));
        append(other(avc_frame(Picture::inter, 80ms, {inter(200)})));
        const auto audio_frames = [](const RtpLog& rtp_log) {
            const auto packets = packets_of(rtp_log, MediaKind::audio);
            return packets.size() == 1 ? packets[0].payload.size() : 0;
        };
        EXPECT_EQ(audio_frames(*source->rtp_logs().find()), 30U);
        EXPECT_EQ(audio_frames(pictures.rtp_log), 30U);
        EXPECT_EQ(audio_frames(both.rtp_log), 31U);
        for (const RtpLog* rtp_log : {&pictures.rtp_log, &both.rtp_log}) {
            ASSERT_TRUE(rtp_log->gop_start()) << "at the key frame of these pictures";
            const auto shown = packets_of(*rtp_log, MediaKind::video);
            EXPECT_EQ(shown.back().time, 80ms);
            EXPECT_EQ(shown.back().payload.size(), inter(200).size());
        }
        EXPECT_EQ(packets_of(*source->rtp_logs().find(), MediaKind::video).back().time, 0ms);
    }
    EXPECT_EQ(source->rtp_logs().find({second, second}), nullptr);
    EXPECT_EQ(source->readers().count(), 0U);
}

// Converting for every choice of tracks in one step would block the loop.
TEST_F(FramesToRtpTest, AppendLeavesALargeFrameAndEachLogConvertsItInAStepOfItsOwn) {
    const auto publication = Publication::start(source, Takeover::refuse);
    configs();
    picture(0ms, Picture::key);
    std::vector<std::unique_ptr<HeldRtpLog>> held;
    for (std::uint8_t id = 0; id < 5; ++id)
        held.push_back(std::make_unique<HeldRtpLog>(source, TrackChoice{TrackId(id), {}}));
    const auto converted = [&held] {
        return std::ranges::count_if(
            held, [](const auto& one) { return packets_of(one->rtp_log, MediaKind::video).back().time == 40ms; });
    };
    append(avc_frame(Picture::key, 40ms, {idr(2U << 20)}));
    append(audio_packet(Codec::aac, Content::frame, 50ms, Octets(30, 7)));
    ASSERT_FALSE(source->backlog().empty());
    EXPECT_EQ(converted(), 0);
    for (std::ptrdiff_t before = 0; converted() < 5; before = converted()) {
        source->backlog().encode_some();
        ASSERT_LE(converted(), before + 1);
    }
    source->flush();
    EXPECT_TRUE(source->backlog().empty());
    EXPECT_EQ(packets_of(held[0]->rtp_log, MediaKind::audio).size(), 1U) << "what came after it";
    append(avc_frame(Picture::key, 80ms, {idr(2U << 20)}));
    source->flush();
    EXPECT_EQ(packets_of(held[4]->rtp_log, MediaKind::video).back().time, 80ms) << "a publisher that cannot suspend";
}

TEST_F(FramesToRtpTest, RtpLogsAreBounded) {
    std::vector<std::unique_ptr<HeldRtpLog>> held;
    for (std::uint8_t id = 0; held.size() < RtpLogs::kMax; ++id)
        held.push_back(std::make_unique<HeldRtpLog>(source, TrackChoice{TrackId(id), {}}));
    EXPECT_TRUE(source->rtp_logs().has_room_for({TrackId(0), {}})) << "there is one already";
    EXPECT_FALSE(source->rtp_logs().has_room_for({{}, TrackId(0)}));
    held.pop_back();
    EXPECT_TRUE(source->rtp_logs().has_room_for({{}, TrackId(0)}));
}

TEST_F(FramesToRtpTest, AudioThatComesLaterReachesPlayersWithItsOwnTime) {
    transcoders.later = true;
    auto publication = *Publication::start(source, Takeover::refuse);
    RtpReader player(source);
    configs();
    picture(0ms, Picture::key);
    audio(20ms);
    audio(43ms);
    picture(80ms, Picture::inter);
    EXPECT_TRUE(packets_of(player.rtp_log(), MediaKind::audio).empty());
    player.readable().consume();
    transcoders.newest->come();
    EXPECT_TRUE(player.readable().is_raised()) << "players are told without another packet";
    auto converted = packets_of(player.rtp_log(), MediaKind::audio);
    ASSERT_EQ(converted.size(), 2U);
    EXPECT_EQ(converted[0].time, 20ms);
    EXPECT_EQ(converted[1].time, 43ms);
    EXPECT_EQ(converted[1].arrived, TimePoint{} + 43ms);

    // The last audio arrives after the publisher has left.
    audio(66ms);
    publication.reset();
    ASSERT_NE(source->rtp_logs().converter(), nullptr);
    player.readable().consume();
    transcoders.newest->come();
    EXPECT_TRUE(player.readable().is_raised());
    converted = packets_of(player.rtp_log(), MediaKind::audio);
    ASSERT_EQ(converted.size(), 3U);
    EXPECT_EQ(converted[2].time, 66ms);
}

TEST_F(FramesToRtpTest, ConvertsNothingWhenDisabled) {
    options.bridge.rtmp_to_rtc = false;
    source->set_options(options);
    RtpReader player(source);
    const auto publication = Publication::start(source, Takeover::refuse);
    configs();
    picture(0ms, Picture::key);
    EXPECT_EQ(source->rtp_logs().converter(), nullptr);
    EXPECT_EQ(player.peek(), nullptr);
}

// Three hours in a daytime run, a day in a nightly run.
TEST_F(FramesToRtpTest, ADayNeedsNoMoreMemoryThanAnHour) {
    const auto publication = Publication::start(source, Takeover::refuse);
    RtpReader player(source);
    append(avc_config());
    ByteWriter head;
    write_opus_head(head, wire::codec::OpusHead{});
    append(audio_packet(Codec::opus, Content::config, {}, head.written()));
    const std::int64_t day_ms = rounds(3, 24) * 3'600 * 1'000;
    const Packet key = avc_frame(Picture::key, {}, {idr(2'000)});
    const Packet inter_frame = avc_frame(Picture::inter, {}, {inter(300)});
    const Packet opus = audio_packet(Codec::opus, Content::frame, {}, hex("fb060102"));
    std::size_t packets_most = 0;
    std::size_t bytes_most = 0;
    const RtpPacket* newest = nullptr;
    for (std::int64_t ms = 0; ms < day_ms; ms += 120) {
        Packet audio = opus;
        audio.dts = ms * 1ms;
        append(std::move(audio));
        if (ms % 240 == 0) {
            Packet picture = ms % 4'800 == 0 ? key : inter_frame;
            picture.dts = ms * 1ms;
            append(std::move(picture));
        }
        source->flush();
        while (const RtpPacket* packet = player.peek()) {
            newest = packet;
            player.advance();
        }
        packets_most = std::max(packets_most, player.rtp_log().size());
        bytes_most = std::max(bytes_most, player.rtp_log().bytes());
    }
    // 4.8 s of video, or 3 s of history.
    EXPECT_LT(packets_most, 200U);
    EXPECT_LT(bytes_most, 60'000U);
    ASSERT_NE(newest, nullptr);
    EXPECT_EQ(newest->time, (day_ms - 120) * 1ms);
    EXPECT_EQ(newest->timestamp, rtp_timestamp(newest->time, newest->kind == MediaKind::video ? 90'000 : 48'000));
    EXPECT_EQ(source->rtp_logs().converter()->audio().counters().packets, static_cast<std::uint64_t>(day_ms / 120));
    EXPECT_EQ(source->rtp_logs().converter()->video().counters().frames, static_cast<std::uint64_t>(day_ms / 240));
}

}  // namespace
}  // namespace live::media
