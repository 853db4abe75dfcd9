#include "service/dash/mpd_reader.hpp"

#include <gtest/gtest.h>

#include "service/dash/mpd_fixture.hpp"

namespace live::service::dash {
namespace {

TEST(DashMpdReader, ReadsAWrittenMpd) {
    Mpd mpd = example_mpd();
    mpd.init_number = 3;
    const auto read = MUST(read_mpd(text_of(mpd)));
    EXPECT_EQ(read.began, mpd.began);
    EXPECT_EQ(read.init_number, 3U);
    EXPECT_EQ(read.first_number, 7U);
    ASSERT_EQ(read.tracks.size(), 2U);
    EXPECT_EQ(read.tracks[0].id, "audio");
    EXPECT_EQ(read.tracks[1].id, "video");
    ASSERT_EQ(read.tracks[0].segments.size(), 2U);
    EXPECT_EQ(read.tracks[0].segments[1].start, 12'021ms) << "as it was written, in milliseconds";
    EXPECT_EQ(read.tracks[1].segments[1].start, 12'040ms);
    EXPECT_EQ(read.tracks[1].segments[1].duration, 2s);
}

// The same with several sets, labels and chunks.
TEST(DashMpdReader, ReadsAnMpdWithChunks) {
    Mpd mpd = example_mpd();
    mpd.chunk = 200ms;
    mpd.tracks[1].label = "<a> & \"b\"";
    MpdTrack other = mpd.tracks[1];
    other.id = "video-2";
    other.is_extra = true;
    other.format.codecs = "hvc1.1.6.L93.B0";
    mpd.tracks.push_back(other);
    const auto read = MUST(read_mpd(text_of(mpd)));
    EXPECT_EQ(read.init_number, 0U);
    ASSERT_EQ(read.tracks.size(), 3U);
    EXPECT_EQ(read.tracks[2].id, "video-2");
}

TEST(DashMpdReader, ReadsTheNewestPeriod) {
    Mpd mpd = example_mpd();
    mpd.earlier.emplace_back(mpd).tracks.pop_back();
    mpd.start = 10s;
    mpd.init_number = 3;
    const auto read = MUST(read_mpd(text_of(mpd)));
    EXPECT_EQ(read.period_start, 10s);
    EXPECT_EQ(read.init_number, 3U);
    EXPECT_EQ(read.tracks.size(), 2U);
    EXPECT_EQ(MUST(read_mpd(text_of(example_mpd()))).period_start, 0s);
}

TEST(DashMpdReader, RefusesEveryPrefix) {
    const std::string text = text_of(example_mpd());
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_FALSE(read_mpd(text.substr(0, size)).ok()) << size;
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = text_of(example_mpd());
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(DashMpdReader, RefusesOtherMpds) {
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"2026-11-21", "2026-13-21"},
             {"2026-11-21", "1926-11-21"},
             {"14:05:09", "24:05:09"},
             {"042Z", "042+"},
             {"availabilityStartTime", "availabilityEndTime"},
             {"id=\"audio\"", "id=\"../audio\""},
             {"id=\"audio\"", "id=\"\""},
             {"-init.mp4", "-init-x.mp4"},
             {"-init.mp4", "-other.mp4"},
             {"-init.mp4", "-init-4.mp4"},
             {"startNumber=\"7\"", "startNumber=\"8\""},
             {"startNumber=\"7\"", "startNumber=\"-7\""},
             {"startNumber=\"7\"", "startNumber=\"99999999999999999999\""},
             {"timescale=\"1000\"", "timescale=\"90000\""},
             {"<S t=\"12021\"", "<S t=\"9999\""},
             {"<S t=\"12021\"", "<S n=\"12021\""},
             {"            <S t=\"12021\" d=\"2000\"/>\n", ""},
             {"d=\"2021\"", "d=\"2 021\""},
             {"<MPD ", "<DPM "},
         })
        EXPECT_FALSE(read_mpd(changed(from, to)).ok()) << from << " " << to;
    EXPECT_FALSE(read_mpd("</MPD>\n").ok());
}

TEST(DashMpdReader, HasLimits) {
    Mpd mpd = example_mpd();
    const MpdTrack track = mpd.tracks.front();
    while (mpd.tracks.size() < kMpdTracksMax)
        mpd.tracks.push_back(track);
    EXPECT_TRUE(read_mpd(text_of(mpd)).ok());
    mpd.tracks.push_back(track);
    EXPECT_EQ(read_mpd(text_of(mpd)).code(), Errc::limit);
    EXPECT_EQ(read_mpd(std::string(kMpdBytesMax + 1, ' ')).code(), Errc::limit);
}

}  // namespace
}  // namespace live::service::dash
