#include "media/rtp_lane.hpp"

#include <gtest/gtest.h>

#include "media/rtp_reader_fixture.hpp"
#include "media/source.hpp"

namespace live::media {
namespace {

RtpPacket video(std::int64_t at_ms, bool begins_key = false, std::size_t size = 1'000) {
    RtpPacket packet{.kind = Kind::video, .begins_key = begins_key, .payload = Slice::allocate(size)};
    packet.arrived = TimePoint{} + std::chrono::milliseconds(at_ms);
    packet.time = std::chrono::milliseconds(at_ms);
    packet.timestamp = rtp_timestamp(packet.time, 90'000);
    return packet;
}

RtpPacket audio(std::int64_t at_ms) {
    RtpPacket packet = video(at_ms, false, 80);
    packet.kind = Kind::audio;
    packet.timestamp = rtp_timestamp(packet.time, 48'000);
    return packet;
}

RtpTrack h264() { return {Kind::video, "H264", 90'000, 0, "packetization-mode=1"}; }

struct Counted final : RtpListener, KeyFrameSource {
    void on_rtp() override { ++told; }
    void on_key_frame_wanted() override { ++asked; }
    int told = 0;
    int asked = 0;
};

TEST(RtpLane, NumbersEachTrackWithoutGaps) {
    RtpLane lane;
    for (int i = 0; i < 300; ++i)
        lane.append(i % 3 == 0 ? audio(i) : video(i));
    std::uint16_t next_audio = 0;
    std::uint16_t next_video = 0;
    for (Sequence sequence = lane.first(); sequence < lane.next(); ++sequence) {
        const RtpPacket& packet = lane.at(sequence);
        EXPECT_EQ(packet.sequence, packet.kind == Kind::audio ? next_audio++ : next_video++);
    }
    EXPECT_EQ(lane.size(), 300U);
}

TEST(RtpLane, FindsWhatAPlayerMisses) {
    RtpLane lane;
    for (int i = 0; i < 1'000; ++i)
        lane.append(i % 5 == 0 ? audio(i) : video(i));
    for (Sequence sequence = lane.first(); sequence < lane.next(); ++sequence) {
        const RtpPacket& packet = lane.at(sequence);
        EXPECT_EQ(lane.find(packet.kind, packet.sequence), &packet);
    }
    EXPECT_EQ(lane.find(Kind::video, 800), nullptr) << "not sent so far";
    EXPECT_EQ(lane.find(Kind::audio, 65'535), nullptr);
    EXPECT_EQ(lane.find(Kind::data, 0), nullptr);
    EXPECT_EQ(RtpLane().find(Kind::video, 0), nullptr);
}

TEST(RtpLane, LeavesANumberOutWhereSomethingIsLost) {
    RtpLane lane;
    lane.append(video(0));
    lane.append(audio(0));
    RtpPacket after = video(40);
    after.follows_loss = true;
    lane.append(after);
    lane.append(audio(20));
    EXPECT_EQ(lane.at(2).sequence, 2);
    EXPECT_EQ(lane.at(3).sequence, 1) << "the loss is the other track's";
    EXPECT_EQ(lane.find(Kind::video, 1), nullptr);
    EXPECT_EQ(lane.find(Kind::video, 2), &lane.at(2));
}

TEST(RtpLane, FindsAcrossTheWrapOfNumbers) {
    RtpLane lane;
    for (int i = 0; i < 70'000; ++i)
        lane.append(video(i / 10));
    const RtpPacket& newest = lane.at(lane.next() - 1);
    EXPECT_EQ(newest.sequence, (70'000 - 1) % 65'536);
    EXPECT_EQ(lane.find(Kind::video, newest.sequence), &newest);
    EXPECT_EQ(lane.find(Kind::video, static_cast<std::uint16_t>(newest.sequence + 1)), nullptr);
    EXPECT_EQ(lane.find(Kind::video, 60'000), nullptr) << "of before, and gone";
}

TEST(RtpLane, KeepsNoMorePacketsThanItsBound) {
    RtpLane lane;
    lane.append(video(0, true));
    for (std::size_t i = 1; i < RtpLane::kPacketsMax; ++i)
        lane.append(video(1));
    EXPECT_EQ(lane.size(), RtpLane::kPacketsMax);
    EXPECT_EQ(lane.gop_start(), 0U);
    lane.append(video(2));
    EXPECT_EQ(lane.size(), RtpLane::kPacketsMax);
    EXPECT_EQ(lane.first(), 1U);
    EXPECT_FALSE(lane.gop_start()) << "the group has lost its beginning";
    EXPECT_EQ(lane.find(Kind::video, 0), nullptr);
    EXPECT_EQ(lane.find(Kind::video, 1), &lane.at(1));
}

TEST(RtpLane, KeepsNoMoreBytesThanItsBound) {
    constexpr std::size_t kSize = 64 * 1024;
    RtpLane lane;
    for (std::size_t i = 0; i < RtpLane::kBytesMax / kSize; ++i)
        lane.append(video(1, i == 0, kSize));
    EXPECT_EQ(lane.bytes(), RtpLane::kBytesMax);
    EXPECT_EQ(lane.first(), 0U);
    lane.append(video(2, false, 1));
    EXPECT_EQ(lane.first(), 1U);
    EXPECT_EQ(lane.bytes(), RtpLane::kBytesMax - kSize + 1);
    EXPECT_FALSE(lane.gop_start());
}

TEST(RtpLane, KeepsAWhileAndTheNewestGroup) {
    RtpLane lane;
    for (int at = 0; at < 10'000; at += 40)
        lane.append(video(at, at == 0 || at == 5'000));
    EXPECT_EQ(lane.at(lane.first()).time, 5'000ms) << "the group is longer than the history";
    EXPECT_EQ(lane.gop_start(), lane.first());
    lane.append(video(10'000, true));
    EXPECT_EQ(lane.at(lane.first()).time, 7'000ms) << "the history is longer than the group";
    EXPECT_EQ(*lane.gop_start(), lane.next() - 1);
}

TEST(RtpLane, AnotherWriterGoesOnWithTheNumbers) {
    RtpLane lane;
    Counted first;
    Counted second;
    lane.start_writer(&first);
    lane.set_track(h264());
    lane.append(video(0, true));
    lane.start_writer(&second);
    EXPECT_FALSE(lane.gop_start()) << "what the first one left is nothing to join at";
    lane.end_writer(&first);
    lane.want_key_frame();
    EXPECT_EQ(first.asked, 0);
    EXPECT_EQ(second.asked, 1);
    lane.append(video(40, true));
    EXPECT_EQ(lane.at(1).sequence, 1);
    EXPECT_EQ(lane.gop_start(), 1U);
    lane.end_writer(&second);
    lane.want_key_frame();
    EXPECT_EQ(second.asked, 1);
    EXPECT_EQ(lane.key_frames_wanted(), 2U);
}

TEST(RtpLane, CountsChangesOfTracks) {
    RtpLane lane;
    EXPECT_EQ(lane.track(Kind::video), nullptr);
    lane.set_track(h264());
    lane.append(video(0, true));
    EXPECT_EQ(lane.version(), 1U);
    lane.set_track(h264());
    EXPECT_EQ(lane.version(), 1U) << "the same once more";
    EXPECT_TRUE(lane.gop_start());
    lane.set_track({Kind::audio, "opus", 48'000, 2, ""});
    EXPECT_EQ(lane.version(), 2U);
    EXPECT_TRUE(lane.gop_start());
    lane.set_track({Kind::video, "VP8", 90'000, 0, ""});
    EXPECT_EQ(lane.version(), 3U);
    EXPECT_FALSE(lane.gop_start());
    EXPECT_EQ(lane.track(Kind::video)->codec, "VP8");
    EXPECT_EQ(lane.track(Kind::audio)->channels, 2);
    EXPECT_EQ(lane.track(Kind::data), nullptr);
}

TEST(RtpLane, TellsListenersOncePerBatch) {
    RtpLane lane;
    Counted listener;
    lane.add_listener(listener);
    lane.append(video(0));
    lane.append(video(0));
    EXPECT_EQ(listener.told, 0);
    lane.flush();
    EXPECT_EQ(listener.told, 1);
    lane.remove_listener(listener);
    lane.flush();
    EXPECT_EQ(listener.told, 1);
}

TEST(RtpTimestamp, IsExactAndWraps) {
    EXPECT_EQ(rtp_timestamp(0us, 90'000), 0U);
    EXPECT_EQ(rtp_timestamp(40ms, 90'000), 3'600U);
    EXPECT_EQ(rtp_timestamp(20ms, 48'000), 960U);
    EXPECT_EQ(rtp_timestamp(std::chrono::hours(24 * 400), 90'000), static_cast<std::uint32_t>(400LL * 86'400 * 90'000));
}

struct RtpLaneOfSource : ::testing::Test {
    SlabPool pool;
    Ref<Source> source = make_ref<Source>("/live/test", PlayOptions{}, 60'000U, pool);
    Counted publisher;
};

TEST_F(RtpLaneOfSource, LivesWhileSomebodyHoldsIt) {
    EXPECT_EQ(source->rtp_lane(), nullptr);
    {
        const RtpReader one(source);
        EXPECT_NE(source->rtp_lane(), nullptr);
        EXPECT_EQ(source->readers(), 1U);
        EXPECT_TRUE(source->is_awaited());
        { const RtpReader two(source); }
        EXPECT_NE(source->rtp_lane(), nullptr);
    }
    EXPECT_EQ(source->rtp_lane(), nullptr);
    EXPECT_EQ(source->readers(), 0U);
    EXPECT_FALSE(source->is_awaited());
}

TEST_F(RtpLaneOfSource, PublisherThatFillsItHoldsItAndIsNoReader) {
    auto publication = *source->publish(Source::Takeover::refuse);
    EXPECT_FALSE(source->brings_rtp());
    RtpLane& lane = publication->fill_rtp_lane(publisher);
    EXPECT_TRUE(source->brings_rtp());
    EXPECT_EQ(source->readers(), 0U);
    {
        const RtpReader player(source);
        EXPECT_EQ(source->readers(), 1U);
        EXPECT_EQ(publisher.asked, 1) << "there is nothing to start with";
        lane.append(video(0, true));
        const RtpReader another(source);
        EXPECT_EQ(publisher.asked, 1);
        EXPECT_EQ(another.next(), 0U);
    }
    EXPECT_NE(source->rtp_lane(), nullptr);
    publication.reset();
    EXPECT_EQ(source->rtp_lane(), nullptr);
}

TEST_F(RtpLaneOfSource, PlayersStayWhenThePublisherIsReplaced) {
    RtpReader player(source);
    auto first = *source->publish(Source::Takeover::refuse);
    first->fill_rtp_lane(publisher).append(video(0, true));
    ASSERT_NE(player.peek(), nullptr);
    player.advance();
    Counted other;
    auto second = *source->publish(Source::Takeover::replace);
    player.lane().want_key_frame();
    EXPECT_EQ(publisher.asked, 0) << "evicted: nobody asks it any more";
    RtpLane& lane = second->fill_rtp_lane(other);
    first.reset();
    EXPECT_TRUE(source->brings_rtp());
    player.lane().want_key_frame();
    EXPECT_EQ(other.asked, 1);
    lane.append(video(40, true));
    lane.flush();
    EXPECT_TRUE(player.readable().consume());
    ASSERT_NE(player.peek(), nullptr);
    EXPECT_EQ(player.peek()->sequence, 1);
}

TEST_F(RtpLaneOfSource, OvertakenPlayerFindsAKeyFrame) {
    auto publication = *source->publish(Source::Takeover::refuse);
    RtpLane& lane = publication->fill_rtp_lane(publisher);
    const RtpReader player(source);
    EXPECT_EQ(player.peek(), nullptr);
    for (int at = 0; at < 20'000; at += 40)
        lane.append(video(at, at % 2'000 == 0));
    EXPECT_GT(lane.first(), player.next());
    ASSERT_EQ(lane.gop_start(), 450U);
    EXPECT_TRUE(lane.at(450).begins_key);
    EXPECT_EQ(lane.at(450).time, 18'000ms);
}

}  // namespace
}  // namespace live::media
