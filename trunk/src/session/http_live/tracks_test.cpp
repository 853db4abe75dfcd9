#include "session/http_live/tracks.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/wire_log_hold.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace live::session::http_live {
namespace {

using media::Container;

Slice slice_of(std::initializer_list<std::uint8_t> bytes) {
    Slice slice = Slice::allocate(bytes.size());
    std::ranges::copy(bytes, slice.mutable_bytes().begin());
    return slice;
}

struct Stream {
    Stream() { source->set_arrival(now); }
    void audio(std::uint8_t head, bool config = false) {
        source->append(media::tag_packet(MediaKind::audio, false, config, at(),
                                         slice_of({head, static_cast<std::uint8_t>(config ? 0 : 1), 0x12, 0x10})));
    }
    void video(bool key) {
        source->append(
            media::tag_packet(MediaKind::video, key, false, at(), slice_of({static_cast<std::uint8_t>(key ? 0x17 : 0x27), 1})));
    }
    MediaTime at() { return std::chrono::milliseconds(20 * ++count); }

    TimePoint now{1h};
    media::SlabPool pool;
    Ref<media::Source> source = make_ref<media::Source>("/live/tracks", media::PlayOptions(), 4096U, pool);
    int count = 0;
};

constexpr std::uint8_t kAac = 0xAF;
constexpr std::uint8_t kMp3 = 0x2F;

TEST(Tracks, AreDecidedAsSoonAsBothKindsAreThere) {
    Stream stream;
    EXPECT_FALSE(decide_tracks(*stream.source, Container::flv, {}, stream.now));
    stream.audio(kAac, true);
    stream.video(true);
    EXPECT_FALSE(decide_tracks(*stream.source, Container::flv, {}, stream.now)) << "a header is not audio yet";
    stream.audio(kAac);
    const auto tracks = decide_tracks(*stream.source, Container::flv, {}, stream.now);
    ASSERT_TRUE(tracks);
    EXPECT_TRUE(tracks->announced.has(MediaKind::audio) && tracks->announced.has(MediaKind::video));
}

TEST(Tracks, OneKindIsSureAfterATimeIfFramesAreRare) {
    Stream stream;
    EXPECT_FALSE(sure_at(*stream.source));
    const media::WireLogHold reader(stream.source, {});  // keeps the frames
    stream.video(true);
    ASSERT_EQ(sure_at(*stream.source), stream.now + kSureAfter);
    EXPECT_FALSE(decide_tracks(*stream.source, Container::flv, {}, stream.now + kSureAfter - 1ms));
    const auto tracks = decide_tracks(*stream.source, Container::flv, {}, stream.now + kSureAfter);
    ASSERT_TRUE(tracks);
    EXPECT_TRUE(tracks->sent.has(MediaKind::video));
}

TEST(Tracks, OneKindIsSureAfterSomePackets) {
    Stream stream;
    for (std::uint64_t i = 1; i < kSurePackets; ++i)
        stream.video(i == 1);
    EXPECT_FALSE(decide_tracks(*stream.source, Container::flv, {}, stream.now));
    stream.video(false);
    const auto tracks = decide_tracks(*stream.source, Container::flv, {}, stream.now);
    ASSERT_TRUE(tracks);
    EXPECT_FALSE(tracks->announced.has(MediaKind::audio));
    EXPECT_FALSE(tracks->sent.has(MediaKind::audio)) << "drop_if_not_match";
    RemuxOptions options;
    options.drop_if_not_match = false;
    EXPECT_TRUE(decide_tracks(*stream.source, Container::flv, options, stream.now)->sent.has(MediaKind::audio));
}

// An edge that joins within a GOP gets audio for seconds before the first key frame.
TEST(Tracks, AKnownConfigurationIsAnnouncedHoweverLateItsFramesAre) {
    Stream stream;
    stream.source->append(media::tag_packet(MediaKind::video, true, true, stream.at(), slice_of({0x17, 0, 0, 0, 0, 1})));
    stream.audio(kAac, true);
    for (std::uint64_t i = 0; i < 3 * kSurePackets; ++i)
        stream.audio(kAac);
    const auto tracks = decide_tracks(*stream.source, Container::flv, {}, stream.now);
    ASSERT_TRUE(tracks);
    EXPECT_TRUE(tracks->announced.has(MediaKind::audio) && tracks->announced.has(MediaKind::video));
    EXPECT_TRUE(tracks->sent.has(MediaKind::video));
}

TEST(Tracks, AnnouncedKindsCountUntilNextPublisher) {
    Stream stream;
    auto publication = media::Publication::start(stream.source, media::Takeover::refuse);
    ASSERT_TRUE(publication.ok());
    MediaKindSet video;
    video.add(MediaKind::video);
    stream.source->tracks().announce(video);
    for (std::uint64_t i = 0; i < kSurePackets; ++i)
        stream.audio(kAac);
    ASSERT_TRUE(decide_tracks(*stream.source, Container::flv, {}, stream.now));
    EXPECT_TRUE(decide_tracks(*stream.source, Container::flv, {}, stream.now)->announced.has(MediaKind::video));
    publication = media::Publication::start(stream.source, media::Takeover::replace);
    EXPECT_FALSE(decide_tracks(*stream.source, Container::flv, {}, stream.now)->announced.has(MediaKind::video));
}

TEST(Tracks, TheCodecIsKnownEvenWhenAGopHasJustBegun) {
    Stream stream;
    stream.audio(kAac, true);
    stream.audio(kAac);
    for (int i = 0; i < 40; ++i)
        stream.video(false);
    stream.video(true);  // no reader: everything before the key frame is dropped
    ASSERT_EQ(stream.source->ring().size(), 1U);
    EXPECT_TRUE(check_codec(*stream.source, Container::aac).ok());
    EXPECT_EQ(check_codec(*stream.source, Container::mp3).code(), Errc::unsupported);
    EXPECT_TRUE(check_codec(*stream.source, Container::flv).ok());
}

// A player that joins at that moment would otherwise wait for frames that never come.
TEST(Tracks, AudioIsWaitedForUntilItsCodecIsKnown) {
    Stream stream;
    EXPECT_FALSE(decide_tracks(*stream.source, Container::aac, {}, stream.now));
    stream.audio(kMp3);
    for (int i = 0; i < 40; ++i)
        stream.video(false);
    stream.video(true);  // no reader: the audio is dropped, and MP3 has no header that stays
    EXPECT_FALSE(decide_tracks(*stream.source, Container::aac, {}, stream.now));
    EXPECT_FALSE(decide_tracks(*stream.source, Container::mp3, {}, stream.now));
    stream.source->append(media::tag_packet(MediaKind::audio, false, false, stream.at(), Slice()));
    EXPECT_FALSE(decide_tracks(*stream.source, Container::aac, {}, stream.now)) << "silence says nothing";
    stream.audio(kMp3);
    ASSERT_TRUE(decide_tracks(*stream.source, Container::aac, {}, stream.now));
    EXPECT_EQ(check_codec(*stream.source, Container::aac).code(), Errc::unsupported);
    ASSERT_TRUE(decide_tracks(*stream.source, Container::mp3, {}, stream.now));
    EXPECT_TRUE(check_codec(*stream.source, Container::mp3).ok());
}

TEST(Tracks, AudioIsLookedForInTheNewestPacketsOnly) {
    Stream stream;
    stream.video(true);
    stream.audio(kMp3);
    for (std::uint64_t i = 1; i < kLookBack; ++i)
        stream.video(false);
    EXPECT_TRUE(decide_tracks(*stream.source, Container::mp3, {}, stream.now));
    stream.video(false);
    EXPECT_FALSE(decide_tracks(*stream.source, Container::mp3, {}, stream.now));
}

// Another publisher, with another encoder.
TEST(Tracks, TheNewestAudioCountsMoreThanAnOldHeader) {
    Stream stream;
    stream.audio(kAac, true);
    EXPECT_TRUE(check_codec(*stream.source, Container::aac).ok());
    stream.audio(kMp3);
    EXPECT_EQ(check_codec(*stream.source, Container::aac).code(), Errc::unsupported);
    EXPECT_TRUE(check_codec(*stream.source, Container::mp3).ok());
}

TEST(Tracks, Mp3HasNoHeaderToLookAt) {
    Stream stream;
    EXPECT_TRUE(check_codec(*stream.source, Container::mp3).ok()) << "nothing is known against it";
    for (int i = 0; i < 3; ++i)
        stream.audio(kMp3);
    ASSERT_FALSE(stream.source->ring().empty());
    EXPECT_TRUE(check_codec(*stream.source, Container::mp3).ok());
    EXPECT_EQ(check_codec(*stream.source, Container::aac).code(), Errc::unsupported);
}

}  // namespace
}  // namespace live::session::http_live
