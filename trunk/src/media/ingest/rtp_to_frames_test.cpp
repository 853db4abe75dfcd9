#include "media/ingest/rtp_to_frames.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_reader.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/rtp_reader_fixture.hpp"
#include "wire/amf/amf.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::media {
namespace {

using namespace bridge_test;

struct Asked final : KeyFrameSource {
    void on_key_frame_wanted() override { ++times; }
    int times = 0;
};

struct RtpToFramesTest : ::testing::Test {
    void SetUp() override {
        const auto config = wire::codec::parse_avc_config(wire::codec::avc_vectors()[0].record);
        sps.assign(config->sps[0].begin(), config->sps[0].end());
        pps.assign(config->pps[0].begin(), config->pps[0].end());
        rtp_log.set_track({MediaKind::video, "H264", 90'000, 0, ""});
        rtp_log.set_track({MediaKind::audio, "opus", 48'000, 2, ""});
    }
    void picture(MediaTime time, bool is_key) {
        wire::rtp_payload::PayloadList payloads;
        const std::vector<Octets> units = is_key ? std::vector<Octets>{sps, pps, idr(2'000)} : std::vector<Octets>{inter(500)};
        EXPECT_TRUE(packetize_nal(wire::rtp_payload::NalCodec::avc, with_lengths(units), 1'200, payloads).ok());
        for (std::size_t i = 0; i < payloads.size(); ++i)
            rtp_log.append({.kind = MediaKind::video,
                            .timestamp = rtp_timestamp(time, 90'000),
                            .marker = i + 1 == payloads.size(),
                            .begins_key = is_key && i == 0,
                            .payload = Slice::copy_of(payloads[i]),
                            .arrived = TimePoint{} + time,
                            .time = time});
        rtp_log.flush();
    }
    void audio(MediaTime time) {
        rtp_log.append({.kind = MediaKind::audio,
                        .timestamp = rtp_timestamp(time, 48'000),
                        .payload = Slice::copy_of(hex("fc0102")),
                        .arrived = TimePoint{} + time,
                        .time = time});
        rtp_log.flush();
    }

    Octets sps;
    Octets pps;
    SlabPool pool;
    PlayOptions options;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
    Asked publisher;
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
    RtpLog& rtp_log = publication->fill_rtp_log(publisher);
    EchoTranscoders transcoders;
    Lines lines;
    Log log{lines, "test"};
    Cursor reader{source};
    std::optional<RtpToFrames> converter{std::in_place, *publication, rtp_log, PublishOptions{}, &transcoders, log};
};

TEST_F(RtpToFramesTest, FillsTheSourceWithFrames) {
    for (int i = 0; i < 50; ++i) {
        picture(i * 40ms, i == 0);
        audio(i * 40ms);
        audio(i * 40ms + 20ms);
    }
    EXPECT_EQ(source->counters().key_frames, 1U);
    std::vector<MediaTime> pictures;
    std::vector<MediaTime> audio_frames;
    bool metadata_first = false;
    while (const auto packet = reader.take()) {
        if (packet->kind == MediaKind::data)
            metadata_first = pictures.empty();
        if (packet->kind == MediaKind::video && !packet->is_config())
            pictures.push_back(packet->dts);
        if (packet->kind == MediaKind::audio && !packet->is_config())
            audio_frames.push_back(packet->dts);
    }
    EXPECT_TRUE(metadata_first);
    ASSERT_EQ(pictures.size(), 50U);
    ASSERT_EQ(audio_frames.size(), 100U);
    EXPECT_EQ(pictures[49], 49 * 40ms);
    EXPECT_EQ(audio_frames[99], 99 * 20ms);
    EXPECT_TRUE(reader.readable().is_raised());
    EXPECT_EQ(source->ring().newest().arrived, TimePoint{} + 99 * 20ms);
}

TEST_F(RtpToFramesTest, AudioThatComesLaterReachesReadersWithItsOwnTime) {
    transcoders.later = true;
    picture(0ms, true);
    audio(0ms);
    audio(20ms);
    picture(40ms, false);
    while (reader.take()) {
    }
    EXPECT_FALSE(converter->is_idle());
    reader.readable().consume();
    transcoders.newest->come();
    EXPECT_TRUE(converter->is_idle());
    EXPECT_TRUE(reader.readable().is_raised()) << "readers are told without another packet";
    for (const MediaTime time : {0ms, 20ms}) {
        const auto packet = reader.take();
        ASSERT_TRUE(packet);
        EXPECT_EQ(packet->kind, MediaKind::audio);
        EXPECT_EQ(packet->dts, time) << "not moved after the frame that was faster";
    }
    EXPECT_FALSE(reader.take());

    // A publisher that was taken over adds nothing to the stream.
    audio(60ms);
    EXPECT_FALSE(converter->is_idle());
    const auto next = *Publication::start(source, Takeover::replace);
    EXPECT_TRUE(converter->is_idle());
    transcoders.newest->come();
    EXPECT_FALSE(reader.take());
}

TEST_F(RtpToFramesTest, MakesMetadata) {
    picture(0ms, true);
    ASSERT_FALSE(source->tracks().metadata().empty());
    ByteReader in(source->tracks().metadata().bytes());
    EXPECT_EQ(wire::amf::read_amf0(in)->string(), "onMetaData");
    const auto values = wire::amf::read_amf0(in);
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(values->find("width")->number(), 1'280);
    EXPECT_EQ(values->find("height")->number(), 720);
    EXPECT_EQ(values->find("videocodecid")->number(), 7);
    EXPECT_EQ(values->find("audiocodecid")->number(), 10);
}

TEST_F(RtpToFramesTest, RequestsKeyFramesAtIntervals) {
    for (int i = 0; i < 25 * 60; ++i)
        picture(i * 40ms, i == 0);
    EXPECT_EQ(publisher.times, 9) << "a minute, each 6 s";
}

TEST_F(RtpToFramesTest, ArrivingKeyFramePostponesTheNextRequest) {
    for (int i = 0; i < 25 * 60; ++i)
        picture(i * 40ms, i % 50 == 0);
    EXPECT_EQ(publisher.times, 0);
}

TEST_F(RtpToFramesTest, RequestsKeyFrameAfterALoss) {
    for (int i = 0; i < 25; ++i)
        picture(i * 40ms, i == 0);
    rtp_log.append({.kind = MediaKind::video,
                    .timestamp = rtp_timestamp(1s, 90'000),
                    .marker = true,
                    .follows_loss = true,
                    .payload = Slice::copy_of(inter(100)),
                    .arrived = TimePoint{} + 1s,
                    .time = 1s});
    rtp_log.flush();
    EXPECT_EQ(publisher.times, 1);
    for (int i = 26; i < 30; ++i)
        picture(i * 40ms, false);
    EXPECT_EQ(publisher.times, 1) << "not more often than every half second";
    picture(31 * 40ms, true);
    const auto newest = source->ring().newest();
    EXPECT_TRUE(newest.key);
}

TEST_F(RtpToFramesTest, NothingIsAppendedOnceEvicted) {
    picture(0ms, true);
    const auto other = Publication::start(source, Takeover::replace);
    const Sequence before = source->ring().next();
    picture(40ms, false);
    EXPECT_EQ(source->ring().next(), before);
}

TEST_F(RtpToFramesTest, DoesNotConvertItsFramesBackToRtp) {
    options.bridge.rtmp_to_rtc = true;
    options.bridge.rtc_to_rtmp = true;
    source->set_options(options);
    RtpReader player(source);
    picture(0ms, true);
    EXPECT_EQ(source->rtp_logs().converter(), nullptr);
    const Sequence packets = rtp_log.next();
    picture(40ms, false);
    EXPECT_EQ(rtp_log.next(), packets + 1);
}

}  // namespace
}  // namespace live::media
