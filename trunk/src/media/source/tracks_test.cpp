#include "media/source/tracks.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"

namespace live::media {
namespace {

struct TracksTest : ::testing::Test {
    // Whether the packet is `extra`.
    bool note(Packet packet) {
        tracks.note(packet);
        return packet.extra;
    }
    bool note(MediaKind kind, const char* body, bool is_config = false, MediaTime dts = {}) {
        return note(tag_packet(kind, false, is_config, dts, Slice::copy_of(hex(body))));
    }

    Tracks tracks;
};

TEST_F(TracksTest, LearnsTracksFromTheirPackets) {
    EXPECT_EQ(tracks.default_of(MediaKind::video), nullptr);
    note(MediaKind::video, "57 00");
    note(MediaKind::audio, "af 02 21");
    EXPECT_TRUE(tracks.all().empty()) << "neither a command nor an unknown AAC packet belongs to a track";
    note(MediaKind::audio, "af 00 1210");
    note(MediaKind::audio, "af 01 aa");
    ASSERT_EQ(tracks.all().size(), 1U);
    EXPECT_EQ(tracks.version(), 1U);
    const Track& audio = tracks.all()[0];
    EXPECT_EQ(audio.kind, MediaKind::audio);
    EXPECT_EQ(audio.codec, Codec::aac);
    EXPECT_TRUE(std::ranges::equal(audio.config.bytes(), hex("1210"))) << "without the FLV header";
    note(MediaKind::audio, "af 00 1190");
    EXPECT_EQ(tracks.version(), 2U);
    EXPECT_TRUE(std::ranges::equal(tracks.default_of(MediaKind::audio)->config.bytes(), hex("1190")));
    note(MediaKind::audio, "2f aa");
    EXPECT_EQ(tracks.default_of(MediaKind::audio)->codec, Codec::mp3);
    EXPECT_TRUE(tracks.default_of(MediaKind::audio)->config.empty()) << "the configuration was the other codec's";
    EXPECT_EQ(tracks.version(), 3U);
    note(MediaKind::audio, "2f bb");
    EXPECT_EQ(tracks.version(), 3U);
    note(MediaKind::video, "96 00 61763031 05 81010c00");
    note(MediaKind::video, "96 00 61763031 02 81010c00");
    ASSERT_EQ(tracks.all().size(), 3U);
    EXPECT_EQ(tracks.default_of(MediaKind::video)->id, TrackId(5)) << "the first one";
}

TEST_F(TracksTest, FirstTrackOfAKindIsTheDefault) {
    EXPECT_TRUE(tracks.is_default(MediaKind::audio, TrackId(3)));
    EXPECT_FALSE(note(MediaKind::audio, "95 00 6d703461 03 1210", true));
    EXPECT_TRUE(note(MediaKind::audio, "95 00 6d703461 00 1190", true));
    EXPECT_TRUE(tracks.is_default(MediaKind::audio, TrackId(3)));
    EXPECT_FALSE(tracks.is_default(MediaKind::audio, TrackId(0)));
    EXPECT_FALSE(tracks.has_default(MediaKind::video));
    EXPECT_EQ(tracks.extra_configs().size(), 1U);
    EXPECT_EQ(tracks.config_of(MediaKind::audio, TrackChoice())->track, TrackId(3));
    EXPECT_EQ(tracks.config_of(MediaKind::audio, TrackChoice{TrackId(0), {}})->track, TrackId(0));
    EXPECT_EQ(tracks.config_of(MediaKind::audio, TrackChoice{TrackId(1), {}}), nullptr);
    EXPECT_EQ(tracks.config_of(MediaKind::video, TrackChoice()), nullptr);
}

TEST_F(TracksTest, NewPublisherReplacesTheTracks) {
    note(MediaKind::audio, "95 00 6d703461 03 1210", true);
    note(MediaKind::audio, "95 00 6d703461 00 1190", true);
    tracks.note_b_frames();
    tracks.announce(MediaKindSet::all());
    const std::uint32_t before = tracks.version();
    tracks.start_publisher();
    EXPECT_EQ(tracks.all().size(), 1U) << "the default track stays until the new publisher sends one";
    EXPECT_TRUE(tracks.extra_configs().empty());
    EXPECT_NE(tracks.version(), before);
    EXPECT_FALSE(tracks.has_b_frames());
    EXPECT_FALSE(tracks.expected_kinds().has(MediaKind::video));
    EXPECT_TRUE(tracks.expected_kinds().has(MediaKind::audio)) << "it was configured";
    EXPECT_FALSE(note(MediaKind::audio, "af 00 1190", true));
    ASSERT_EQ(tracks.all().size(), 1U);
    EXPECT_EQ(tracks.default_of(MediaKind::audio)->id, TrackId(0));
    EXPECT_EQ(tracks.config_of(MediaKind::audio, TrackId(3)), nullptr);
}

TEST_F(TracksTest, HasRoomForABoundedNumberOfTracksOfAKind) {
    for (std::uint8_t id = 0; id < Tracks::kMax; ++id) {
        EXPECT_TRUE(tracks.has_room_for(MediaKind::audio, TrackId(id)));
        Packet packet = plain_packet(MediaKind::audio, false, false, {}, Slice::allocate(4));
        packet.codec = Codec::aac;
        packet.track = TrackId(id);
        tracks.note(packet);
    }
    EXPECT_EQ(tracks.all().size(), Tracks::kMax);
    EXPECT_FALSE(tracks.has_room_for(MediaKind::audio, TrackId(Tracks::kMax)));
    EXPECT_TRUE(tracks.has_room_for(MediaKind::audio, TrackId(3))) << "it is known";
    EXPECT_TRUE(tracks.has_room_for(MediaKind::video, TrackId(Tracks::kMax)));
}

TEST_F(TracksTest, OnlyFramesOfTheDefaultTrackHaveATime) {
    note(MediaKind::audio, "95 00 6d703461 03 1210", true, 5ms);
    EXPECT_FALSE(tracks.last_time(MediaKind::audio).has_value());
    note(MediaKind::audio, "af 01 aa", false, 7ms);
    EXPECT_FALSE(tracks.last_time(MediaKind::audio).has_value()) << "track 0 is not the default";
    note(MediaKind::audio, "95 01 6d703461 03 aa", false, 9ms);
    EXPECT_EQ(tracks.last_time(MediaKind::audio), 9ms);
}

TEST_F(TracksTest, NamesApplyToCurrentAndLaterTracks) {
    note(MediaKind::audio, "af 00 1210", true);
    tracks.name_tracks({{MediaKind::audio, TrackId(0), "en", "main"}, {MediaKind::audio, TrackId(1), "de", "second"}});
    note(MediaKind::audio, "95 00 6d703461 01 1190", true);
    EXPECT_EQ(tracks.find(MediaKind::audio, TrackId(0))->language, "en");
    EXPECT_EQ(tracks.find(MediaKind::audio, TrackId(1))->name, "second");
    note(plain_packet(MediaKind::data, false, true, {}, Slice::allocate(10)));
    EXPECT_EQ(tracks.metadata().size(), 10U);
    const std::uint32_t before = tracks.config_version();
    tracks.forget_metadata();
    EXPECT_TRUE(tracks.metadata().empty());
    EXPECT_NE(tracks.config_version(), before);
    EXPECT_EQ(tracks.find(MediaKind::audio, TrackId(1))->name, "");
}

TEST_F(TracksTest, ContainerDescribesAudioWithoutConfiguration) {
    note(MediaKind::audio, "2f aa");
    tracks.note_audio(TrackId(0), Codec::mp3, {44'100, 2});
    EXPECT_EQ(tracks.default_of(MediaKind::audio)->audio, (AudioFormat{44'100, 2}));
    const std::uint32_t before = tracks.version();
    tracks.note_audio(TrackId(0), Codec::mp3, {48'000, 1});
    EXPECT_EQ(tracks.default_of(MediaKind::audio)->audio.sample_rate, 48'000U);
    EXPECT_EQ(tracks.version(), before) << "the codec is the same";
}

TEST_F(TracksTest, KeepsAConfigurationWithoutTheMemoryOfItsNeighbours) {
    const Slice shared = Slice::copy_of(std::vector<std::uint8_t>(1000));
    note(plain_packet(MediaKind::video, false, true, {}, shared.sub(0, 10)));
    EXPECT_EQ(tracks.config(MediaKind::video).payload.size(), 10U);
    EXPECT_EQ(tracks.config(MediaKind::video).payload.memory_bytes(), 10U);
}

constexpr const char* kCaptioned = "27 01 000000 00000012 06 04 0e b50031 47413934 03 41ff fc9420 80 00000002 419a";

TEST_F(TracksTest, FindsClosedCaptions) {
    note(MediaKind::video, kCaptioned);
    EXPECT_EQ(captions_of(tracks).names(), std::vector<std::string>{"CC1"});
    EXPECT_EQ(tracks.default_of(MediaKind::video)->captions.found(), captions_of(tracks));
    note(MediaKind::video, "27 01 000000 00000012 06 04 0e b50031 47413934 03 41ff fd9520 80 00000002 419a");
    EXPECT_EQ(captions_of(tracks).names(), (std::vector<std::string>{"CC1", "CC3"}));
    tracks.start_publisher();
    EXPECT_FALSE(captions_of(tracks).any());
}

TEST_F(TracksTest, FindsClosedCaptionsOfFurtherTracks) {
    note(MediaKind::video, "27 01 000000 00000002 419a");
    note(MediaKind::video, "a6 01 61766331 01 000000 00000012 06 04 0e b50031 47413934 03 41ff fc9420 80 00000002 419a");
    EXPECT_EQ(captions_of(tracks).names(), std::vector<std::string>{"CC1"});
    EXPECT_FALSE(tracks.default_of(MediaKind::video)->captions.found().any());
}

}  // namespace
}  // namespace live::media
