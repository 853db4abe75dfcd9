#include "media/rtp/rtp_log.hpp"

#include <gtest/gtest.h>

#include "media/source/publication.hpp"
#include "media/source/rtp_reader_fixture.hpp"

namespace live::media {
namespace {

RtpPacket video(std::int64_t at_ms, bool begins_key = false, std::size_t size = 1'000) {
    RtpPacket packet{.kind = MediaKind::video, .begins_key = begins_key, .payload = Slice::allocate(size)};
    packet.arrived = TimePoint{} + std::chrono::milliseconds(at_ms);
    packet.time = std::chrono::milliseconds(at_ms);
    packet.timestamp = rtp_timestamp(packet.time, 90'000);
    return packet;
}

RtpPacket audio(std::int64_t at_ms) {
    RtpPacket packet = video(at_ms, false, 80);
    packet.kind = MediaKind::audio;
    packet.timestamp = rtp_timestamp(packet.time, 48'000);
    return packet;
}

RtpTrack h264() { return {MediaKind::video, "H264", 90'000, 0, "packetization-mode=1"}; }

struct Counted final : RtpListener, KeyFrameSource {
    void on_rtp() override { ++notified; }
    void on_key_frame_wanted() override { ++asked; }
    int notified = 0;
    int asked = 0;
};

TEST(RtpLog, NumbersEachTrackWithoutGaps) {
    RtpLog rtp_log;
    for (int i = 0; i < 300; ++i)
        rtp_log.append(i % 3 == 0 ? audio(i) : video(i));
    std::uint16_t next_audio = 0;
    std::uint16_t next_video = 0;
    for (Sequence sequence = rtp_log.first(); sequence < rtp_log.next(); ++sequence) {
        const RtpPacket& packet = rtp_log.at(sequence);
        EXPECT_EQ(packet.sequence, packet.kind == MediaKind::audio ? next_audio++ : next_video++);
    }
    EXPECT_EQ(rtp_log.size(), 300U);
}

TEST(RtpLog, FindsMissingPackets) {
    RtpLog rtp_log;
    for (int i = 0; i < 1'000; ++i)
        rtp_log.append(i % 5 == 0 ? audio(i) : video(i));
    for (Sequence sequence = rtp_log.first(); sequence < rtp_log.next(); ++sequence) {
        const RtpPacket& packet = rtp_log.at(sequence);
        EXPECT_EQ(rtp_log.find(packet.kind, packet.sequence), &packet);
    }
    EXPECT_EQ(rtp_log.find(MediaKind::video, 800), nullptr) << "not sent so far";
    EXPECT_EQ(rtp_log.find(MediaKind::audio, 65'535), nullptr);
    EXPECT_EQ(rtp_log.find(MediaKind::data, 0), nullptr);
    EXPECT_EQ(RtpLog().find(MediaKind::video, 0), nullptr);
}

TEST(RtpLog, LeavesANumberOutWhereSomethingIsLost) {
    RtpLog rtp_log;
    rtp_log.append(video(0));
    rtp_log.append(audio(0));
    RtpPacket after = video(40);
    after.follows_loss = true;
    rtp_log.append(after);
    rtp_log.append(audio(20));
    EXPECT_EQ(rtp_log.at(2).sequence, 2);
    EXPECT_EQ(rtp_log.at(3).sequence, 1) << "the loss is the other track's";
    EXPECT_EQ(rtp_log.find(MediaKind::video, 1), nullptr);
    EXPECT_EQ(rtp_log.find(MediaKind::video, 2), &rtp_log.at(2));
}

TEST(RtpLog, FindsAcrossTheWrapOfNumbers) {
    RtpLog rtp_log;
    for (int i = 0; i < 70'000; ++i)
        rtp_log.append(video(i / 10));
    const RtpPacket& newest = rtp_log.at(rtp_log.next() - 1);
    EXPECT_EQ(newest.sequence, (70'000 - 1) % 65'536);
    EXPECT_EQ(rtp_log.find(MediaKind::video, newest.sequence), &newest);
    EXPECT_EQ(rtp_log.find(MediaKind::video, static_cast<std::uint16_t>(newest.sequence + 1)), nullptr);
    EXPECT_EQ(rtp_log.find(MediaKind::video, 60'000), nullptr) << "of before, and gone";
}

TEST(RtpLog, KeepsNoMorePacketsThanItsBound) {
    RtpLog rtp_log;
    rtp_log.append(video(0, true));
    for (std::size_t i = 1; i < RtpLog::kPacketsMax; ++i)
        rtp_log.append(video(1));
    EXPECT_EQ(rtp_log.size(), RtpLog::kPacketsMax);
    EXPECT_EQ(rtp_log.gop_start(), 0U);
    rtp_log.append(video(2));
    EXPECT_EQ(rtp_log.size(), RtpLog::kPacketsMax);
    EXPECT_EQ(rtp_log.first(), 1U);
    EXPECT_FALSE(rtp_log.gop_start()) << "the group has lost its beginning";
    EXPECT_EQ(rtp_log.find(MediaKind::video, 0), nullptr);
    EXPECT_EQ(rtp_log.find(MediaKind::video, 1), &rtp_log.at(1));
}

TEST(RtpLog, KeepsNoMoreBytesThanItsBound) {
    constexpr std::size_t kSize = 64 * 1024;
    RtpLog rtp_log;
    for (std::size_t i = 0; i < RtpLog::kBytesMax / kSize; ++i)
        rtp_log.append(video(1, i == 0, kSize));
    EXPECT_EQ(rtp_log.bytes(), RtpLog::kBytesMax);
    EXPECT_EQ(rtp_log.first(), 0U);
    rtp_log.append(video(2, false, 1));
    EXPECT_EQ(rtp_log.first(), 1U);
    EXPECT_EQ(rtp_log.bytes(), RtpLog::kBytesMax - kSize + 1);
    EXPECT_FALSE(rtp_log.gop_start());
}

TEST(RtpLog, KeepsAWhileAndTheNewestGroup) {
    RtpLog rtp_log;
    for (int at = 0; at < 10'000; at += 40)
        rtp_log.append(video(at, at == 0 || at == 5'000));
    EXPECT_EQ(rtp_log.at(rtp_log.first()).time, 5'000ms) << "the group is longer than the history";
    EXPECT_EQ(rtp_log.gop_start(), rtp_log.first());
    rtp_log.append(video(10'000, true));
    EXPECT_EQ(rtp_log.at(rtp_log.first()).time, 7'000ms) << "the history is longer than the group";
    EXPECT_EQ(*rtp_log.gop_start(), rtp_log.next() - 1);
}

TEST(RtpLog, NextWriterContinuesTheNumbers) {
    RtpLog rtp_log;
    Counted first;
    Counted second;
    rtp_log.start_writer(&first);
    rtp_log.set_track(h264());
    rtp_log.append(video(0, true));
    rtp_log.start_writer(&second);
    EXPECT_FALSE(rtp_log.gop_start()) << "what the first one left is nothing to join at";
    rtp_log.end_writer(&first);
    rtp_log.want_key_frame();
    EXPECT_EQ(first.asked, 0);
    EXPECT_EQ(second.asked, 1);
    rtp_log.append(video(40, true));
    EXPECT_EQ(rtp_log.at(1).sequence, 1);
    EXPECT_EQ(rtp_log.gop_start(), 1U);
    rtp_log.end_writer(&second);
    rtp_log.want_key_frame();
    EXPECT_EQ(second.asked, 1);
    EXPECT_EQ(rtp_log.key_frames_wanted(), 2U);
}

TEST(RtpLog, CountsChangesOfTracks) {
    RtpLog rtp_log;
    EXPECT_EQ(rtp_log.track(MediaKind::video), nullptr);
    rtp_log.set_track(h264());
    rtp_log.append(video(0, true));
    EXPECT_EQ(rtp_log.version(), 1U);
    rtp_log.set_track(h264());
    EXPECT_EQ(rtp_log.version(), 1U) << "the same once more";
    EXPECT_TRUE(rtp_log.gop_start());
    rtp_log.set_track({MediaKind::audio, "opus", 48'000, 2, ""});
    EXPECT_EQ(rtp_log.version(), 2U);
    EXPECT_TRUE(rtp_log.gop_start());
    rtp_log.set_track({MediaKind::video, "VP8", 90'000, 0, ""});
    EXPECT_EQ(rtp_log.version(), 3U);
    EXPECT_FALSE(rtp_log.gop_start());
    EXPECT_EQ(rtp_log.track(MediaKind::video)->codec, "VP8");
    EXPECT_EQ(rtp_log.track(MediaKind::audio)->channels, 2);
    EXPECT_EQ(rtp_log.track(MediaKind::data), nullptr);
}

TEST(RtpLog, NotifiesListenersOncePerBatch) {
    RtpLog rtp_log;
    Counted listener;
    rtp_log.add_listener(listener);
    rtp_log.append(video(0));
    rtp_log.append(video(0));
    EXPECT_EQ(listener.notified, 0);
    rtp_log.flush();
    EXPECT_EQ(listener.notified, 1);
    rtp_log.remove_listener(listener);
    rtp_log.flush();
    EXPECT_EQ(listener.notified, 1);
}

TEST(RtpTimestamp, IsExactAndWraps) {
    EXPECT_EQ(rtp_timestamp(0us, 90'000), 0U);
    EXPECT_EQ(rtp_timestamp(40ms, 90'000), 3'600U);
    EXPECT_EQ(rtp_timestamp(20ms, 48'000), 960U);
    EXPECT_EQ(rtp_timestamp(std::chrono::hours(24 * 400), 90'000), static_cast<std::uint32_t>(400LL * 86'400 * 90'000));
}

struct RtpLogOfSource : ::testing::Test {
    SlabPool pool;
    Ref<Source> source = make_ref<Source>("/live/test", PlayOptions{}, 60'000U, pool);
    Counted publisher;
};

TEST_F(RtpLogOfSource, LivesWhileSomebodyHoldsIt) {
    EXPECT_EQ(source->rtp_logs().find(), nullptr);
    {
        const RtpReader one(source);
        EXPECT_NE(source->rtp_logs().find(), nullptr);
        EXPECT_EQ(source->readers().count(), 1U);
        EXPECT_TRUE(source->is_awaited());
        { const RtpReader two(source); }
        EXPECT_NE(source->rtp_logs().find(), nullptr);
    }
    EXPECT_EQ(source->rtp_logs().find(), nullptr);
    EXPECT_EQ(source->readers().count(), 0U);
    EXPECT_FALSE(source->is_awaited());
}

TEST_F(RtpLogOfSource, PublisherThatFillsItHoldsItAndIsNoReader) {
    auto publication = *Publication::start(source, Takeover::refuse);
    EXPECT_FALSE(source->publications().brings_rtp());
    RtpLog& rtp_log = publication->fill_rtp_log(publisher);
    EXPECT_TRUE(source->publications().brings_rtp());
    EXPECT_EQ(source->readers().count(), 0U);
    {
        const RtpReader player(source);
        EXPECT_EQ(source->readers().count(), 1U);
        EXPECT_EQ(publisher.asked, 1) << "there is nothing to start with";
        rtp_log.append(video(0, true));
        const RtpReader another(source);
        EXPECT_EQ(publisher.asked, 1);
        EXPECT_EQ(another.next(), 0U);
    }
    EXPECT_NE(source->rtp_logs().find(), nullptr);
    publication.reset();
    EXPECT_EQ(source->rtp_logs().find(), nullptr);
}

TEST_F(RtpLogOfSource, PlayersStayWhenThePublisherIsReplaced) {
    RtpReader player(source);
    auto first = *Publication::start(source, Takeover::refuse);
    first->fill_rtp_log(publisher).append(video(0, true));
    ASSERT_NE(player.peek(), nullptr);
    player.advance();
    Counted other;
    auto second = *Publication::start(source, Takeover::replace);
    player.rtp_log().want_key_frame();
    EXPECT_EQ(publisher.asked, 0) << "evicted: nobody asks it any more";
    RtpLog& rtp_log = second->fill_rtp_log(other);
    first.reset();
    EXPECT_TRUE(source->publications().brings_rtp());
    player.rtp_log().want_key_frame();
    EXPECT_EQ(other.asked, 1);
    rtp_log.append(video(40, true));
    rtp_log.flush();
    EXPECT_TRUE(player.readable().consume());
    ASSERT_NE(player.peek(), nullptr);
    EXPECT_EQ(player.peek()->sequence, 1);
}

TEST_F(RtpLogOfSource, OvertakenPlayerFindsAKeyFrame) {
    auto publication = *Publication::start(source, Takeover::refuse);
    RtpLog& rtp_log = publication->fill_rtp_log(publisher);
    const RtpReader player(source);
    EXPECT_EQ(player.peek(), nullptr);
    for (int at = 0; at < 20'000; at += 40)
        rtp_log.append(video(at, at % 2'000 == 0));
    EXPECT_GT(rtp_log.first(), player.next());
    ASSERT_EQ(rtp_log.gop_start(), 450U);
    EXPECT_TRUE(rtp_log.at(450).begins_key);
    EXPECT_EQ(rtp_log.at(450).time, 18'000ms);
}

}  // namespace
}  // namespace live::media
