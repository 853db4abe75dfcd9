#include "media/rtp/track_layers.hpp"

#include <gtest/gtest.h>

#include "media/ingest/rendition.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/rtp/frames_to_rtp.hpp"
#include "media/source/publication.hpp"
#include "media/source/rtp_reader_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::media {
namespace {

using namespace bridge_test;

constexpr std::chrono::milliseconds kFrameDuration{40};
constexpr int kGop = 25;

struct TrackLayersTest : ::testing::Test {
    TrackLayersTest() {
        options.bridge.rtmp_to_rtc = true;
        source->set_options(options);
        source->append(avc_config());
    }
    static wire::codec::Frame small_frame(const Packet& packet) {
        auto made = frame_of(packet);
        made.track = TrackId(0);
        return made;
    }
    std::unique_ptr<Rendition> start_rendition(std::string name, const Packet& config = avc_config()) {
        auto rendition = *Rendition::start(source, {{MediaKind::video, TrackId(0), "", std::move(name)}});
        rendition->push_frame(MediaKind::video, small_frame(config));
        return rendition;
    }
    static Packet picture(int number, std::size_t bytes) {
        const bool is_key = number % kGop == 0;
        return avc_frame(is_key ? Picture::key : Picture::inter, number * kFrameDuration, {is_key ? idr(bytes) : inter(bytes)});
    }
    // Frames [from, to) of the stream, with 1,000 bytes, and of the rendition, with 200.
    void play(int from, int to, Rendition* rendition, int late = 0) {
        for (int i = from; i < to; ++i) {
            source->append(picture(i, 1'000));
            if (rendition != nullptr && i - late >= 0)
                rendition->push_frame(MediaKind::video, small_frame(picture(i - late, 200)));
            source->flush();
        }
    }

    SlabPool pool;
    PlayOptions options;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
};

TEST_F(TrackLayersTest, AreTheTracksOfTheStreamsCodec) {
    play(0, 30, nullptr);
    const RtpReader player(source);
    RtpLog& log = *source->rtp_logs().find();
    EXPECT_EQ(log.layers(), nullptr);
    auto small = start_rendition("240p");
    ASSERT_NE(log.layers(), nullptr) << "from its configuration on";
    RtpLayers& layers = *log.layers();
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(layers.name(0), "source");
    EXPECT_EQ(layers.name(1), "240p");
    EXPECT_EQ(layers.shared(), 0U);
    EXPECT_EQ(&layers.log(0), &log);
    EXPECT_FALSE(layers.has_key_requests());
    auto other = start_rendition("hevc", video_config(Codec::hevc, wire::codec::hevc_vectors().front().record));
    EXPECT_EQ(layers.size(), 2U) << "players agreed on one codec";
    EXPECT_TRUE(layers.is_alive(0)) << "by what is in the ring";
    EXPECT_NEAR(static_cast<double>(layers.rate(0)), 200'000, 30'000);
    EXPECT_FALSE(layers.is_alive(1));
    play(30, 60, small.get());
    EXPECT_TRUE(layers.is_alive(1));
    EXPECT_NEAR(static_cast<double>(layers.rate(1)), 42'000, 10'000);
}

TEST_F(TrackLayersTest, ALayerHasTheFramesSinceItsKeyFrameAndThoseThatFollow) {
    auto small = start_rendition("240p");
    play(0, 30, small.get());
    const RtpReader player(source);
    RtpLayers& layers = *source->rtp_logs().find()->layers();
    EXPECT_TRUE(layers.is_alive(1)) << "the first player need not wait";
    EXPECT_TRUE(layers.log(1).empty());
    const RtpLog& log = layers.hold(1);
    ASSERT_TRUE(log.gop_start());
    EXPECT_EQ(log.at(*log.gop_start()).time, kGop * kFrameDuration);
    EXPECT_EQ(log.at(log.next() - 1).time, 29 * kFrameDuration);
    play(30, 32, small.get());
    EXPECT_EQ(log.at(log.next() - 1).time, 31 * kFrameDuration);
    layers.release(1);
    const Sequence end = log.next();
    play(32, 40, small.get());
    EXPECT_EQ(log.next(), end) << "nobody plays it";
    layers.hold(1);
    EXPECT_EQ(log.at(log.next() - 1).time, 39 * kFrameDuration);
    EXPECT_EQ(log.at(*log.gop_start()).time, kGop * kFrameDuration);
    layers.release(1);
}

TEST_F(TrackLayersTest, AWakeOfTheStreamIsOneOfItsLayers) {
    auto small = start_rendition("240p");
    play(0, 5, small.get());
    RtpReader player(source);
    RtpLayers& layers = *source->rtp_logs().find()->layers();
    layers.hold(1);
    source->flush();
    player.readable().consume();
    small->push_frame(MediaKind::video, small_frame(picture(5, 200)));
    source->flush();
    EXPECT_TRUE(player.readable().is_raised());
    layers.release(1);
}

TEST_F(TrackLayersTest, ATrackThatIsLateOrGoneIsNotAlive) {
    auto small = start_rendition("240p");
    play(0, 60, small.get());
    const RtpReader player(source);
    RtpLayers& layers = *source->rtp_logs().find()->layers();
    play(60, 140, small.get(), 75);
    EXPECT_TRUE(layers.is_alive(1)) << "3 s late";
    play(140, 260, nullptr);
    EXPECT_FALSE(layers.is_alive(1)) << "silent";
    EXPECT_TRUE(layers.is_alive(0));
    play(260, 320, small.get());
    EXPECT_TRUE(layers.is_alive(1));
    small.reset();
    play(320, 321, nullptr);
    EXPECT_FALSE(layers.is_alive(1)) << "at once";
    small = start_rendition("240p");
    EXPECT_EQ(layers.size(), 2U) << "it has its layer back";
    layers.hold(1);
    play(325, 390, small.get());
    EXPECT_TRUE(layers.is_alive(1));
    EXPECT_EQ(layers.log(1).at(layers.log(1).next() - 1).time, 389 * kFrameDuration);
    layers.release(1);
}

TEST_F(TrackLayersTest, TheirNumberIsBoundedAndTheyEndWithTheConversion) {
    const RtpReader player(source);
    std::vector<std::unique_ptr<Rendition>> all;
    for (std::size_t i = 0; i < Tracks::kRenditionMax; ++i)
        all.push_back(start_rendition("r" + std::to_string(i)));
    play(0, 2, nullptr);
    RtpLog& log = *source->rtp_logs().find();
    ASSERT_NE(log.layers(), nullptr);
    EXPECT_EQ(log.layers()->size(), RtpLayers::kMax);
    EXPECT_GT(source->rtp_logs().held_bytes(), log.held_bytes());
    all.clear();
    publication.reset();
    EXPECT_EQ(log.layers(), nullptr);
}

}  // namespace
}  // namespace live::media
