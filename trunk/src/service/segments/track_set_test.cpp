#include "service/segments/track_set.hpp"

#include <gtest/gtest.h>

#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

class TrackSetTest : public testing::Test {
protected:
    TrackSetTest() { tracks_.restart(TrackSet::Layout::by_track, make_cmaf()); }
    // Adds the track, and gives it its format.
    std::size_t add(MediaKind kind, const Slice& config) {
        const auto packet = config_packet(kind, config);
        const std::size_t index = tracks_.index_of(packet).value();
        tracks_.representation(index).muxer->configure(packet);
        return index;
    }

    TrackSet tracks_{true};
};

TEST_F(TrackSetTest, LeadsByTheDefaultVideo) {
    EXPECT_FALSE(tracks_.leader_at(0s));
    const std::size_t audio = add(MediaKind::audio, aac_config());
    EXPECT_EQ(tracks_.leader_at(0s), audio);
    const std::size_t video = add(MediaKind::video, avc_config());
    EXPECT_EQ(tracks_.leader_at(0s), video);
    tracks_.first() = 0s;
    tracks_[audio].arrived = 3s;
    EXPECT_EQ(tracks_.leader_at(3s), audio) << "there is no video";
}

TEST_F(TrackSetTest, BeginsWithAKeyFrameOfTheLeader) {
    const std::size_t audio = add(MediaKind::audio, aac_config());
    const std::size_t video = add(MediaKind::video, avc_config());
    tracks_.first() = 0s;
    EXPECT_FALSE(tracks_.may_begin(audio, audio_packet(0s)));
    EXPECT_FALSE(tracks_.may_begin(video, video_packet(0s, false)));
    EXPECT_TRUE(tracks_.may_begin(video, video_packet(0s, true)));
}

TEST_F(TrackSetTest, WaitsForTheOtherKind) {
    const std::size_t audio = add(MediaKind::audio, aac_config());
    tracks_.first() = 0s;
    EXPECT_FALSE(tracks_.may_begin(audio, audio_packet(0s)));
    tracks_[audio].arrived = TrackSet::kSilence;
    EXPECT_TRUE(tracks_.may_begin(audio, audio_packet(TrackSet::kSilence)));
}

TEST_F(TrackSetTest, JoinsATrackThatTheOpenSegmentLacks) {
    const std::size_t video = add(MediaKind::video, avc_config());
    tracks_.first() = 0s;
    tracks_.representation(video).in_segment = true;
    EXPECT_FALSE(tracks_.joins({}, 0s));
    add(MediaKind::audio, aac_config());
    EXPECT_TRUE(tracks_.joins({}, 0s));
    EXPECT_TRUE(tracks_.joins(MediaKind::audio, 0s));
    EXPECT_FALSE(tracks_.joins(MediaKind::video, 0s));
}

TEST_F(TrackSetTest, OrdersAudioBeforeVideo) {
    const std::size_t video = add(MediaKind::video, avc_config());
    const std::size_t audio = add(MediaKind::audio, aac_config());
    for (TrackSet::Representation& of : tracks_.representations())
        of.in_segment = true;
    EXPECT_EQ(tracks_.in_order(true), (std::vector{&tracks_.representation(audio), &tracks_.representation(video)}));
    EXPECT_TRUE(tracks_.in_order(false).empty());
    EXPECT_TRUE(tracks_.lacks_a_track());
}

TEST_F(TrackSetTest, HasALimit) {
    media::Packet packet = audio_packet(0s);
    for (std::size_t i = 0; i < kTracksMax; ++i) {
        packet.track = media::TrackId(static_cast<std::uint8_t>(i));
        EXPECT_EQ(tracks_.index_of(packet), i);
    }
    packet.track = media::TrackId(static_cast<std::uint8_t>(kTracksMax));
    EXPECT_FALSE(tracks_.index_of(packet));
    tracks_.restart();
    EXPECT_TRUE(tracks_.empty());
}

TEST_F(TrackSetTest, SharesARepresentationTogether) {
    tracks_.restart(TrackSet::Layout::together, make_ts());
    const std::size_t audio = add(MediaKind::audio, aac_config());
    const std::size_t video = add(MediaKind::video, avc_config());
    EXPECT_EQ(&tracks_.representation(audio), &tracks_.representation(video));
    EXPECT_TRUE(tracks_.leads(audio));
    tracks_[video].seen = true;
    EXPECT_FALSE(tracks_.leads(audio));
    EXPECT_TRUE(tracks_.leads(video));
}

}  // namespace
}  // namespace live::service::segments
