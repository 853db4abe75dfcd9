#include "media/rtp/rtp_to_video.hpp"

#include <gtest/gtest.h>

#include "media/rtp/bridge_fixture.hpp"
#include "media/rtp/video_to_rtp.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::media {
namespace {

using namespace bridge_test;

// Parameter sets of a real encoder: 1280x720.
struct RealSets {
    explicit RealSets(std::size_t vector) : record(wire::codec::avc_vectors()[vector].record) {
        const auto config = wire::codec::parse_avc_config(record);
        sps.assign(config->sps[0].begin(), config->sps[0].end());
        pps.assign(config->pps[0].begin(), config->pps[0].end());
    }
    Octets record;
    Octets sps;
    Octets pps;
};

wire::rtp_payload::Fragment fragment_of(const RtpPacket& packet, std::uint64_t sequence) {
    return {sequence, packet.timestamp, packet.marker, packet.payload.bytes()};
}

struct RtpToVideoTest : ::testing::Test {
    // A frame in packets of at most 1,200 bytes.
    std::vector<RtpPacket> packets(const std::vector<Octets>& units, MediaTime time) {
        wire::rtp_payload::PayloadList payloads;
        EXPECT_TRUE(packetize_nal(nal_codec, with_lengths(units), 1'200, payloads).ok());
        return packets(payloads, time);
    }
    std::vector<RtpPacket> packets(const wire::rtp_payload::PayloadList& payloads, MediaTime time) {
        std::vector<RtpPacket> made;
        for (std::size_t i = 0; i < payloads.size(); ++i)
            made.push_back({.kind = MediaKind::video,
                            .timestamp = rtp_timestamp(time, 90'000) + 77,  // starts anywhere
                            .marker = i + 1 == payloads.size(),
                            .payload = Slice::copy_of(payloads[i]),
                            .time = time});
        return made;
    }
    void push(const std::vector<RtpPacket>& sent) {
        for (const RtpPacket& packet : sent)
            converter.push(fragment_of(packet, next_sequence++), packet.time);
    }
    void send(const std::vector<Octets>& units, MediaTime time) { push(packets(units, time)); }
    void lose(std::size_t count = 1) { next_sequence += count; }

    struct Got {
        wire::codec::Frame frame;
        Octets content;
        MediaTime dts{};
    };
    std::vector<Got> got() {
        std::vector<Got> all;
        while (const auto frame = converter.poll())
            all.push_back({*frame, {frame->data.bytes().begin(), frame->data.bytes().end()}, frame->dts});
        return all;
    }

    Lines lines;
    Log log{lines, "test"};
    RtpToVideo converter{log};
    wire::rtp_payload::NalCodec nal_codec = wire::rtp_payload::NalCodec::avc;
    std::uint64_t next_sequence = 65'530;
};

struct AvcFromRtp : RtpToVideoTest {
    void SetUp() override { EXPECT_TRUE(converter.set_track({MediaKind::video, "H264", 90'000, 0, ""})); }
    RealSets hd{0};
    RealSets other{2};
};

TEST_F(AvcFromRtp, MakesTheSequenceHeaderOfTheStreamsOwnSets) {
    send({hd.sps, hd.pps, idr(3'000)}, 1s);
    send({inter(700)}, 1'040ms);
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 3U);
    EXPECT_EQ(bodies[0].frame.content, Content::config);
    EXPECT_EQ(bodies[0].content, hd.record);
    EXPECT_EQ(bodies[0].dts, 1s);
    EXPECT_TRUE(bodies[1].frame.key);
    EXPECT_EQ(bodies[1].content, with_lengths({idr(3'000)})) << "without the parameter sets";
    EXPECT_EQ(bodies[1].dts, 1s);
    EXPECT_FALSE(bodies[2].frame.key);
    EXPECT_EQ(bodies[2].dts, 1'040ms);
    EXPECT_EQ(bodies[2].frame.cts, 0ms);
    EXPECT_EQ(converter.picture().width, 1'280U);
    EXPECT_FALSE(converter.take_key_frame_request());
}

TEST_F(AvcFromRtp, AnotherHeaderOnlyWhenTheSetsChange) {
    send({hd.sps, hd.pps, idr(100)}, 0ms);
    send({hd.sps, hd.pps, idr(100)}, 40ms);
    EXPECT_EQ(got().size(), 3U);
    send({other.sps, other.pps, idr(100)}, 80ms);
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0].content, other.record);
    EXPECT_EQ(converter.picture().width, 640U);
}

TEST_F(AvcFromRtp, SetsMayComeBeforeTheKeyFrame) {
    send({hd.sps, hd.pps}, 0ms);
    send({idr(100)}, 40ms);
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0].content, hd.record);
}

TEST_F(AvcFromRtp, BeginsAtAKeyFrame) {
    send({inter(700)}, 0ms);
    EXPECT_TRUE(got().empty());
    EXPECT_TRUE(converter.take_key_frame_request());
    EXPECT_FALSE(converter.take_key_frame_request()) << "asked once";
    send({hd.sps, hd.pps, idr(100)}, 40ms);
    EXPECT_EQ(got().size(), 2U);
}

TEST_F(AvcFromRtp, KeyFrameWithoutSetsIsOfNoUse) {
    send({idr(100)}, 0ms);
    EXPECT_TRUE(got().empty());
    EXPECT_TRUE(converter.take_key_frame_request());
    EXPECT_EQ(converter.counters().dropped, 1U);
    send({hd.sps, hd.pps, idr(100)}, 40ms);
    EXPECT_EQ(got().size(), 2U);
}

TEST_F(AvcFromRtp, WaitsForAKeyFrameBehindALoss) {
    send({hd.sps, hd.pps, idr(100)}, 0ms);
    auto frame = packets({inter(5'000)}, 40ms);
    frame.erase(frame.begin() + 2);
    converter.push(fragment_of(frame[0], next_sequence++), frame[0].time);
    converter.push(fragment_of(frame[1], next_sequence++), frame[1].time);
    lose();
    converter.push(fragment_of(frame[2], next_sequence++), frame[2].time);
    send({inter(100)}, 80ms);
    EXPECT_EQ(got().size(), 2U) << "header and key frame";
    EXPECT_TRUE(converter.take_key_frame_request());
    send({inter(100)}, 120ms);
    EXPECT_TRUE(got().empty());
    send({hd.sps, hd.pps, idr(100)}, 160ms);
    send({inter(100)}, 200ms);
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U) << "the header has not changed";
    EXPECT_TRUE(bodies[0].frame.key);
}

TEST_F(AvcFromRtp, KeyFrameBehindALossIsTaken) {
    send({hd.sps, hd.pps, idr(100)}, 0ms);
    lose(10);
    send({hd.sps, hd.pps, idr(100)}, 400ms);
    send({inter(100)}, 440ms);
    EXPECT_EQ(got().size(), 4U);
}

TEST_F(AvcFromRtp, ReorderedFramesGetDecodingTimes) {
    // I P B P B ..., presented at 0 80 40 160 120: as an encoder with B-frames sends it.
    for (const int gop : {0, 1}) {
        const MediaTime start = gop * 2'000ms;
        send({hd.sps, hd.pps, idr(100)}, start);
        for (int i = 0; i < 20; ++i) {
            send({inter(100)}, start + (80 * i + 80) * 1ms);
            send({disposable(100)}, start + (80 * i + 40) * 1ms);
        }
    }
    MediaTime last = -1ms;
    int frames = 0;
    for (const Got& body : got()) {
        if (body.frame.content != Content::frame)
            continue;
        EXPECT_GT(body.dts, last);
        EXPECT_GE(body.frame.cts, 0ms);
        last = body.dts;
        ++frames;
    }
    EXPECT_EQ(frames, 82);
}

TEST_F(AvcFromRtp, TreatsArbitraryBytesAsLoss) {
    std::uint32_t seed = 5;
    for (int i = 0; i < 3'000; ++i) {
        RtpPacket packet{.kind = MediaKind::video,
                         .timestamp = static_cast<std::uint32_t>(i / 3),
                         .payload = Slice::allocate(static_cast<std::size_t>(1 + i % 90))};
        for (std::uint8_t& byte : packet.payload.mutable_bytes()) {
            seed = seed * 1'664'525 + 1'013'904'223;
            byte = static_cast<std::uint8_t>(seed >> 24);
        }
        packet.marker = i % 3 == 2;
        converter.push(fragment_of(packet, next_sequence++), packet.time);
        got();
    }
    send({hd.sps, hd.pps, idr(100)}, 1h);
    const auto bodies = got();
    ASSERT_FALSE(bodies.empty());
    EXPECT_TRUE(bodies.back().frame.key);
}

TEST_F(RtpToVideoTest, Hevc) {
    converter.set_track({MediaKind::video, "H265", 90'000, 0, ""});
    nal_codec = wire::rtp_payload::NalCodec::hevc;
    const auto& vector = wire::codec::hevc_vectors().front();
    const auto config = wire::codec::parse_hevc_config(vector.record);
    std::vector<Octets> units;
    for (const auto& array : config->arrays)
        units.emplace_back(array.units[0].begin(), array.units[0].end());
    const Octets key = unit({0x26, 0x01, 0x80}, 2'000);
    units.push_back(key);
    send(units, 0ms);
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0].content, vector.record);
    EXPECT_EQ(bodies[0].frame.codec, Codec::hevc);
    EXPECT_EQ(bodies[1].content, with_lengths({key}));
}

TEST_F(RtpToVideoTest, Av1) {
    converter.set_track({MediaKind::video, "AV1", 90'000, 0, ""});
    const auto& vector = wire::codec::av1_vectors().front();
    Octets frame(vector.record.begin() + 4, vector.record.end());
    const Octets picture = hex("320a10112233445566778899");
    frame.insert(frame.end(), picture.begin(), picture.end());
    wire::rtp_payload::PayloadList payloads;
    ASSERT_TRUE(packetize_av1(frame, 1'200, payloads).ok());
    push(packets(payloads, 0ms));
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0].content, vector.record);
    EXPECT_EQ(bodies[0].frame.codec, Codec::av1);
    EXPECT_EQ(bodies[1].content, frame);
    EXPECT_TRUE(bodies[1].frame.key);
    EXPECT_EQ(converter.picture().width, 640U);
}

TEST_F(RtpToVideoTest, Vp8AndVp9) {
    converter.set_track({MediaKind::video, "VP8", 90'000, 0, ""});
    // A key frame of 320x240: frame tag, start code, width and height.
    Octets vp8 = hex("10 0200 9d012a 4001 f000");
    vp8.resize(2'500, 0x33);
    wire::rtp_payload::PayloadList payloads;
    packetize_vp8(vp8, 1, 1'200, payloads);
    push(packets(payloads, 0ms));
    auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0].frame.codec, Codec::vp8);
    EXPECT_EQ(bodies[0].content, hex("01000000 00 00 82 02 02 02 0000"));
    EXPECT_EQ(bodies[1].content, vp8);
    EXPECT_EQ(converter.picture().width, 320U);
    EXPECT_EQ(converter.picture().height, 240U);

    converter.set_track({MediaKind::video, "VP9", 90'000, 0, ""});
    // Profile 0, key frame, shown; sync code; colour; 640x360.
    Octets vp9 = hex("82 498342 2027f01670");
    payloads.clear();
    packetize_vp9(vp9, wire::rtp_payload::FrameKind::key, 2, 1'200, payloads);
    push(packets(payloads, 40ms));
    bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0].frame.codec, Codec::vp9);
    EXPECT_TRUE(bodies[1].frame.key);

    // An inter frame, which ffmpeg's packets call a key frame.
    payloads.clear();
    packetize_vp9(hex("86 0040"), wire::rtp_payload::FrameKind::key, 3, 1'200, payloads);
    push(packets(payloads, 80ms));
    bodies = got();
    ASSERT_EQ(bodies.size(), 1U);
    EXPECT_FALSE(bodies[0].frame.key);
}

TEST_F(RtpToVideoTest, LogsUnknownCodec) {
    EXPECT_FALSE(converter.set_track({MediaKind::video, "H263", 90'000, 0, ""}));
    EXPECT_EQ(lines.count("H263"), 1U);
    send({idr(100)}, 0ms);
    EXPECT_TRUE(got().empty());
}

TEST_F(AvcFromRtp, KeepsABoundedNumberOfSets) {
    std::vector<Octets> units(40, hd.sps);
    units.insert(units.end(), 40, hd.pps);
    units.push_back(idr(100));
    send(units, 0ms);
    const auto bodies = got();
    ASSERT_EQ(bodies.size(), 2U);
    const auto config = wire::codec::parse_avc_config(bodies[0].content);
    ASSERT_TRUE(config.ok());
    EXPECT_EQ(config->sps.size(), RtpToVideo::kParameterSetsMax);
    EXPECT_EQ(config->pps.size(), RtpToVideo::kParameterSetsMax);
}

}  // namespace
}  // namespace live::media
