#include "media/rtp/video_to_rtp.hpp"

#include <gtest/gtest.h>

#include "media/rtp/bridge_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/rtp_payload/av1.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace live::media {
namespace {

using namespace bridge_test;
namespace rtp_payload = wire::rtp_payload;

struct VideoToRtpTest : ::testing::Test {
    VideoToRtp& converter() {
        if (!made)
            made.emplace(rtp_log, options, log);
        return *made;
    }
    void push(const std::vector<Packet>& packets) {
        for (const Packet& packet : packets)
            left_out += converter().push(packet).ok() ? 0 : 1;
    }
    // The frames that a receiver assembles from the RTP log.
    template <class Depacketizer>
    std::vector<rtp_payload::Frame> received(Depacketizer depacketizer) const {
        std::vector<rtp_payload::Frame> frames;
        for (const RtpPacket& packet : packets_of(rtp_log, MediaKind::video)) {
            const auto pushed = depacketizer.push({packet.sequence, packet.timestamp, packet.marker, packet.payload.bytes()});
            EXPECT_TRUE(pushed.ok());
            while (auto frame = depacketizer.poll())
                frames.push_back(*std::move(frame));
        }
        return frames;
    }
    std::vector<rtp_payload::Frame> received_avc() const {
        return received(rtp_payload::NalDepacketizer(rtp_payload::NalCodec::avc));
    }

    RtpLog rtp_log;
    BridgeOptions options;
    Lines lines;
    Log log{lines, "test"};
    std::optional<VideoToRtp> made;
    std::size_t left_out = 0;  // packets that could not be converted
};

TEST_F(VideoToRtpTest, AFrameThatNoBrowserHoldsIsLeftOut) {
    push({avc_config()});
    const auto pushed = converter().push(avc_frame(Picture::key, 1s, {idr(VideoToRtp::kFrameBytesMax)}));
    EXPECT_EQ(pushed.code(), Errc::limit);
    EXPECT_NE(pushed.error().text().find("browsers show none of over"), std::string::npos);
    push({avc_frame(Picture::inter, 1'040ms, {inter(500)})});
    EXPECT_EQ(left_out, 0U);
    EXPECT_EQ(converter().counters().frames, 1U);
}

TEST_F(VideoToRtpTest, ParameterSetsStandInFrontOfEachKeyFrame) {
    push({avc_config(), avc_frame(Picture::key, 1s, {idr(3'000)}), avc_frame(Picture::inter, 1'040ms, {inter(500)}),
          avc_frame(Picture::key, 1'080ms, {idr(100)})});
    const auto frames = received_avc();
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].data, with_lengths({kSps, kPps, idr(3'000)}));
    EXPECT_EQ(frames[1].data, with_lengths({inter(500)}));
    EXPECT_EQ(frames[2].data, with_lengths({kSps, kPps, idr(100)}));
    EXPECT_EQ(frames[0].timestamp, 90'000U);
    EXPECT_EQ(frames[1].timestamp, 93'600U);

    const auto packets = packets_of(rtp_log, MediaKind::video);
    constexpr std::uint8_t kStapA = 24;
    EXPECT_EQ(packets[0].payload.bytes()[0] & 0x1F, kStapA);
    EXPECT_TRUE(packets[0].begins_key);
    EXPECT_FALSE(packets[1].begins_key);
    for (const RtpPacket& packet : packets)
        EXPECT_LE(packet.payload.size(), VideoToRtp::kPayloadBytesMax);
    EXPECT_EQ(packets[0].arrived, TimePoint{} + 1s);
    EXPECT_EQ(packets[0].time, 1s);
    EXPECT_EQ(converter().counters().frames, 3U);

    ASSERT_NE(rtp_log.track(MediaKind::video), nullptr);
    EXPECT_EQ(rtp_log.track(MediaKind::video)->codec, "H264");
    EXPECT_EQ(rtp_log.track(MediaKind::video)->clock_rate, 90'000U);
    EXPECT_NE(rtp_log.track(MediaKind::video)->format.find("profile-level-id=640028"), std::string::npos);
}

TEST_F(VideoToRtpTest, StreamsOwnParameterSetsAreNotDoubled) {
    const Octets other_sps = unit({0x67, 0x42, 0x00, 0x1E, 0x00}, 8, 0x00);  // too short to parse
    push({avc_config(), avc_frame(Picture::key, 0ms, {other_sps, kPps, idr(100)})});
    ASSERT_EQ(received_avc().size(), 1U);
    EXPECT_EQ(received_avc()[0].data, with_lengths({other_sps, kPps, idr(100)}));
}

TEST_F(VideoToRtpTest, DelimitersNeverAndMessagesByOption) {
    const Octets delimiter{0x09, 0xF0};
    const Octets message = unit({0x06}, 30);
    const auto frame = avc_frame(Picture::inter, 0ms, {delimiter, message, inter(100)});
    push({avc_config(), frame});
    EXPECT_EQ(received_avc().at(0).data, with_lengths({message, inter(100)}));
    options.keep_avc_nalu_sei = false;
    made.reset();
    push({avc_config(), frame});
    EXPECT_EQ(received_avc().at(1).data, with_lengths({inter(100)}));
}

TEST_F(VideoToRtpTest, LeavesOutFillerOfConstantRateEncoders) {
    const Octets timing{0x06, 0x01, 0x01, 0x24, 0x80};
    const Octets user_data{0x06, 0x05, 0x03, 1, 2, 3, 0x80};
    const Octets broken{0x06, 0x01, 0x09, 0x24, 0x80};
    push({avc_config(), avc_frame(Picture::inter, 0ms, {timing, user_data, broken, inter(2'000)})});
    EXPECT_EQ(received_avc().at(0).data, with_lengths({user_data, broken, inter(2'000)}));
    push({avc_frame(Picture::inter, 40ms, {timing, inter(2'000)})});
    EXPECT_EQ(packets_of(rtp_log, MediaKind::video).size(), 3U + 2U) << "no packet of its own";
}

TEST_F(VideoToRtpTest, ReadsShortLengths) {
    push({avc_config(2), video_frame(Codec::avc, Picture::key, 0ms, with_lengths({idr(700), idr(20)}, 2))});
    EXPECT_EQ(received_avc().at(0).data, with_lengths({kSps, kPps, idr(700), idr(20)}));
}

// I P b b P b b as x264 makes it, 40 ms per frame.
std::vector<Packet> with_b_frames() {
    return {avc_config(),
            avc_frame(Picture::key, 0ms, {idr(900)}, 40ms),
            avc_frame(Picture::inter, 40ms, {inter(800)}, 120ms),
            avc_frame(Picture::inter, 80ms, {disposable(300)}, 0ms),
            avc_frame(Picture::inter, 120ms, {disposable(300)}, 0ms),
            avc_frame(Picture::inter, 160ms, {inter(800)}, 120ms),
            avc_frame(Picture::inter, 200ms, {disposable(300)}, 0ms),
            avc_frame(Picture::inter, 240ms, {disposable(300)}, 0ms),
            avc_frame(Picture::inter, 280ms, {inter(800)}, 120ms)};
}

TEST_F(VideoToRtpTest, LeavesBFramesOutWithEvenPacing) {
    push(with_b_frames());
    std::vector<MediaTime> times;
    for (const RtpPacket& packet : packets_of(rtp_log, MediaKind::video))
        times.push_back(packet.time);
    EXPECT_EQ(times, (std::vector<MediaTime>{40ms, 160ms, 280ms, 400ms}));
    EXPECT_EQ(converter().counters().dropped_b_frames, 4U);
    EXPECT_TRUE(converter().has_b_frames());
    EXPECT_EQ(lines.count("B-frames"), 1U) << "said once";
}

TEST_F(VideoToRtpTest, KeepsBFramesWithRisingStampsIfConfigured) {
    options.keep_bframe = true;
    auto packets = with_b_frames();
    push(packets);
    EXPECT_EQ(received_avc().size(), 8U);
    MediaTime last = -1ms;
    for (const RtpPacket& packet : packets_of(rtp_log, MediaKind::video)) {
        EXPECT_GT(packet.time, last);
        last = packet.time;
    }
    EXPECT_EQ(converter().counters().dropped_b_frames, 0U);
    EXPECT_TRUE(converter().has_b_frames());
}

// I P B b b as x264 makes it with a pyramid: the first B-frame is used for reference.
TEST_F(VideoToRtpTest, LeavesBFramesOutThatOthersArePredictedFrom) {
    push({avc_config(), avc_frame(Picture::key, 0ms, {idr(900)}, 80ms), avc_frame(Picture::inter, 40ms, {inter(800)}, 200ms),
          avc_frame(Picture::inter, 80ms, {reference_b(400), reference_b(300)}, 80ms),
          avc_frame(Picture::inter, 120ms, {disposable(300)}, 0ms), avc_frame(Picture::inter, 160ms, {disposable(300)}, 40ms),
          avc_frame(Picture::inter, 200ms, {inter(800)}, 200ms)});
    std::vector<MediaTime> times;
    for (const RtpPacket& packet : packets_of(rtp_log, MediaKind::video))
        times.push_back(packet.time);
    EXPECT_EQ(times, (std::vector<MediaTime>{80ms, 240ms, 400ms}));
    EXPECT_EQ(converter().counters().dropped_b_frames, 3U);
}

TEST_F(VideoToRtpTest, FramesOutOfOrderThatAreNoBFramesStay) {
    // A P-frame, and a frame whose slice header cannot be parsed.
    push({avc_config(), avc_frame(Picture::key, 0ms, {idr(900)}, 80ms), avc_frame(Picture::inter, 40ms, {inter(800)}, 200ms),
          avc_frame(Picture::inter, 80ms, {inter(400)}, 80ms), avc_frame(Picture::inter, 120ms, {unit({0x41, 0x00}, 2)}, 0ms)});
    EXPECT_EQ(received_avc().size(), 4U);
    EXPECT_EQ(converter().counters().dropped_b_frames, 0U);
}

TEST_F(VideoToRtpTest, ParameterSetsPromiseTheOrderThatIsLeft) {
    const Octets reordering = hex("6764001facd9405005bb011000000300100000030320f1831960");
    const Octets in_order = hex("6764001facd9605005bb011000000300100000030320f1832580");
    const std::vector<Packet> both{avc_config(4, reordering), avc_frame(Picture::key, 0ms, {idr(100)}),
                                   avc_frame(Picture::key, 40ms, {reordering, kPps, idr(100)})};
    push(both);
    EXPECT_EQ(received_avc().at(0).data, with_lengths({in_order, kPps, idr(100)}));
    EXPECT_EQ(received_avc().at(1).data, with_lengths({in_order, kPps, idr(100)})) << "those of the stream itself, too";
    // An SPS that cannot be parsed is sent unchanged, and so are all if B-frames are kept.
    const Octets cut(reordering.begin(), reordering.end() - 6);
    push({avc_config(4, cut), avc_frame(Picture::key, 80ms, {idr(100)})});
    EXPECT_EQ(received_avc().at(2).data, with_lengths({cut, kPps, idr(100)}));
    options.keep_bframe = true;
    made.reset();
    push(both);
    EXPECT_EQ(received_avc().at(3).data, with_lengths({reordering, kPps, idr(100)}));
}

TEST_F(VideoToRtpTest, StreamWithoutBFramesKeepsItsTimes) {
    // A constant delay between decoding and presentation is not reordering.
    push({avc_config(), avc_frame(Picture::key, 0ms, {idr(100)}, 80ms), avc_frame(Picture::inter, 33ms, {disposable(80)}, 80ms),
          avc_frame(Picture::inter, 67ms, {disposable(80)}, 80ms)});
    const auto packets = packets_of(rtp_log, MediaKind::video);
    ASSERT_EQ(packets.size(), 3U);
    EXPECT_EQ(packets[1].time, 113ms);
    EXPECT_FALSE(converter().has_b_frames());
}

TEST_F(VideoToRtpTest, Hevc) {
    const Octets vps = hex("40010c01ffff01600000030090000003000003005d959809");
    const Octets sps = unit({0x42, 0x01}, 40);
    const Octets pps = unit({0x44, 0x01}, 8);
    ByteWriter record;
    wire::codec::HevcConfig config;
    config.arrays = {{32, true, {vps}}, {33, true, {sps}}, {34, true, {pps}}};
    write_hevc_config(record, config);
    const Octets key = unit({0x26, 0x01}, 2'500);
    const Octets b_frame = unit({0x00, 0x01}, 90);
    push({video_config(Codec::hevc, record.written()), video_frame(Codec::hevc, Picture::key, 0ms, with_lengths({key}), 40ms),
          video_frame(Codec::hevc, Picture::inter, 40ms, with_lengths({unit({0x02, 0x01}, 90)}), 80ms),
          video_frame(Codec::hevc, Picture::inter, 80ms, with_lengths({b_frame}))});
    const auto frames = received(rtp_payload::NalDepacketizer(rtp_payload::NalCodec::hevc));
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].data, with_lengths({vps, sps, pps, key}));
    EXPECT_TRUE(frames[0].is_key);
    EXPECT_EQ(converter().counters().dropped_b_frames, 1U);
    EXPECT_EQ(rtp_log.track(MediaKind::video)->codec, "H265");
}

TEST_F(VideoToRtpTest, Av1KeyFrameGetsItsSequenceHeader) {
    const Octets record = wire::codec::av1_vectors().front().record;
    const Bytes obus = wire::codec::parse_av1_config(record)->obus;
    const Octets frame_obu = hex("320a00112233445566778899");  // a frame of ten bytes
    push({video_config(Codec::av1, record), video_frame(Codec::av1, Picture::key, 0ms, frame_obu),
          video_frame(Codec::av1, Picture::inter, 40ms, frame_obu)});
    const auto frames = received(rtp_payload::Av1Depacketizer());
    ASSERT_EQ(frames.size(), 2U);
    Octets expected(obus.begin(), obus.end());
    expected.insert(expected.end(), frame_obu.begin(), frame_obu.end());
    EXPECT_EQ(frames[0].data, expected);
    EXPECT_EQ(frames[1].data, frame_obu);
    EXPECT_EQ(rtp_log.track(MediaKind::video)->codec, "AV1");
}

TEST_F(VideoToRtpTest, Vp9AndVp8) {
    const Octets vp9(3'000, 0x82);
    push({video_config(Codec::vp9, hex("0100000000000000")), video_frame(Codec::vp9, Picture::key, 0ms, vp9),
          video_frame(Codec::vp9, Picture::inter, 40ms, vp9)});
    auto frames = received(rtp_payload::VpxDepacketizer(rtp_payload::VpxCodec::vp9));
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].data, vp9);
    EXPECT_TRUE(frames[0].is_key);
    EXPECT_FALSE(frames[1].is_key);
    EXPECT_EQ(rtp_log.track(MediaKind::video)->codec, "VP9");

    rtp_log.start_writer(nullptr);
    const Sequence before = rtp_log.next();
    push({video_frame(Codec::vp8, Picture::key, 80ms, Octets(100, 0x10))});
    EXPECT_EQ(rtp_log.track(MediaKind::video)->codec, "VP8");
    EXPECT_EQ(rtp_log.next(), before + 1);
}

TEST_F(VideoToRtpTest, LogsUnsupportedContentOnce) {
    const auto screen = video_frame(Codec::screen, Picture::key, {}, kPps);
    push({screen, screen});
    EXPECT_TRUE(rtp_log.empty());
    EXPECT_EQ(rtp_log.track(MediaKind::video), nullptr);
}

TEST_F(VideoToRtpTest, ContinuesAfterBrokenBodies) {
    const Packet whole = avc_frame(Picture::key, 0ms, {idr(200)});
    push({avc_config()});
    for (std::size_t size = whole.head; size < whole.payload.size(); ++size) {
        Packet cut = whole;
        cut.payload = whole.payload.sub(0, size);
        push({cut});
    }
    EXPECT_GT(left_out, 100U);
    push({whole});
    EXPECT_EQ(received_avc().back().data, with_lengths({kSps, kPps, idr(200)}));
}

}  // namespace
}  // namespace live::media
