#include "media/ring/rendition_names.hpp"

#include <gtest/gtest.h>

namespace live::media {
namespace {

Track video_track(std::uint8_t id, std::string name) {
    Track track;
    track.id = TrackId(id);
    track.kind = MediaKind::video;
    track.name = std::move(name);
    return track;
}

TEST(RenditionNames, AreThoseOfTheTracksOrTheirNumbers) {
    const std::vector<Track> all = {video_track(0, ""), video_track(255, "360p"), video_track(3, ""), video_track(4, "360p"),
                                    video_track(5, "source")};
    EXPECT_EQ(rendition_name(all, all[1]), "360p");
    EXPECT_EQ(rendition_name(all, all[2]), "video-3");
    EXPECT_EQ(rendition_name(all, all[3]), "video-4") << "another track has its name";
    EXPECT_EQ(rendition_name(all, all[4]), "video-5") << "that is the name of the stream itself";
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_EQ(find_rendition(all, all.data(), rendition_name(all, all[i])), &all[i]);
    EXPECT_EQ(find_rendition(all, all.data(), "source"), all.data());
    EXPECT_EQ(find_rendition(all, all.data(), ""), all.data());
    EXPECT_EQ(find_rendition(all, nullptr, "source"), nullptr);
    EXPECT_EQ(find_rendition(all, all.data(), "video-255"), &all[1]);
    EXPECT_EQ(find_rendition(all, all.data(), "720p"), nullptr);
}

TEST(RenditionNames, OfAudioAreNoRenditions) {
    Track audio = video_track(1, "English");
    audio.kind = MediaKind::audio;
    EXPECT_EQ(find_rendition({audio}, nullptr, "English"), nullptr);
    EXPECT_EQ(find_rendition({audio}, nullptr, "video-1"), nullptr);
}

}  // namespace
}  // namespace live::media
