#include "media/ring/rendition_names.hpp"

#include <gtest/gtest.h>

#include "media/ring/track_names.hpp"

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

using Entry = RenditionList::Entry;

struct Vector {
    const char* text;
    RenditionList list;
};
const std::vector<Vector>& vectors() {
    static const std::vector<Vector> all = {
        {"", {}},
        {"255 360p\n", {{Entry{TrackId(255), "360p"}}}},
        {"- 360p\n0 the second one\n", {{Entry{std::nullopt, "360p"}, Entry{TrackId(0), "the second one"}}}},
        {"+ 360p\n- 240p\n", {{Entry{std::nullopt, "360p", true}, Entry{std::nullopt, "240p"}}}},
    };
    return all;
}

TEST(RenditionList, IsReadAndWritten) {
    for (const auto& [text, list] : vectors()) {
        const auto read = read_rendition_list(text);
        ASSERT_TRUE(read.ok()) << text;
        EXPECT_EQ(*read, list) << text;
        EXPECT_EQ(write_rendition_list(list), text);
    }
}

TEST(RenditionList, RefusesWhatIsCutOrInvalid) {
    for (const auto& [text, list] : vectors())
        for (std::size_t size = 1; size < std::string_view(text).size(); ++size)
            if (text[size - 1] != '\n') {
                EXPECT_EQ(read_rendition_list(std::string_view(text).substr(0, size)).code(), Errc::malformed) << text << size;
            }
    for (const char* text : {"\n", "360p\n", "256 360p\n", "-1 360p\n", " 360p\n", "1 \n", "x 360p\n", "+1 360p\n", "++ 360p\n",
                             "- a\tb\n", "- \xFF\n"})
        EXPECT_EQ(read_rendition_list(text).code(), Errc::malformed) << text;
    EXPECT_EQ(read_rendition_list("- " + std::string(TrackName::kNameBytesMax + 1, 'x') + "\n").code(), Errc::malformed);
}

TEST(RenditionList, IsBounded) {
    std::string text;
    for (std::size_t i = 0; i < RenditionList::kMax; ++i)
        text += "- " + std::to_string(i) + "p\n";
    EXPECT_TRUE(read_rendition_list(text).ok());
    EXPECT_EQ(read_rendition_list(text + "- more\n").code(), Errc::limit);
}

}  // namespace
}  // namespace live::media
