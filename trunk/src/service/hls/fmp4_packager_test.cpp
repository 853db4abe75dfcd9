#include "service/hls/fmp4_packager.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "service/hls/segmenter.hpp"
#include "service/hls/segmenter_fixture.hpp"

namespace live::service::hls {
namespace {

using media::Kind;

struct Output {
    std::vector<SegmentMade> segments;
    std::vector<PartMade> parts;
};

Output play(Segmenter& segmenter, MediaTime end, MediaTime change = MediaTime::max()) {
    Output output;
    segmenter.push(config_packet(Kind::video, avc_config()));
    segmenter.push(config_packet(Kind::audio, aac_config()));
    for (MediaTime at = 0s; at < end; at += 40ms) {
        if (at == change)
            segmenter.push(config_packet(Kind::video, avc_config(1), at));
        segmenter.push(video_packet(at, at % 1s == 0s || at == change));
        segmenter.push(audio_packet(at + 5ms));
    }
    segmenter.interrupt();
    for (Made& made : segmenter.take()) {
        if (auto* segment = std::get_if<SegmentMade>(&made))
            output.segments.push_back(std::move(*segment));
        else
            output.parts.push_back(std::move(std::get<PartMade>(made)));
    }
    return output;
}

std::string_view type_of(const Block& block) { return as_text(Bytes(*block)).substr(4, 4); }

TEST(Fmp4Packager, SegmentsNeedOneHeaderUntilTheTracksChange) {
    Segmenter segmenter({.cut_at = 2s, .hard_cut_at = 4'200ms, .waits_for_key = true, .part = {}},
                        std::make_unique<Fmp4Packager>());
    const Output output = play(segmenter, 6s, 4'400ms);
    ASSERT_EQ(output.segments.size(), 4U);
    ASSERT_NE(output.segments[0].init, nullptr);
    EXPECT_EQ(type_of(output.segments[0].init), "ftyp");
    EXPECT_EQ(output.segments[0].init, output.segments[2].init);
    EXPECT_NE(output.segments[2].init, output.segments[3].init);
    EXPECT_EQ(output.segments[2].duration, 400ms);
    EXPECT_TRUE(output.segments[3].discontinuity);
    for (const SegmentMade& segment : output.segments)
        EXPECT_EQ(type_of(segment.blocks.front()), "moof");
}

TEST(Fmp4Packager, ASegmentOfManyBytesIsSeveralFragments) {
    Segmenter segmenter({.cut_at = 2s, .hard_cut_at = 4'200ms, .waits_for_key = true, .part = {}},
                        std::make_unique<Fmp4Packager>());
    segmenter.push(config_packet(Kind::video, avc_config()));
    std::size_t largest = 0;
    for (MediaTime at = 0s; at <= 2s; at += 40ms) {
        segmenter.push(media::tag_packet(Kind::video, at % 2s == 0s, false, at, picture(at % 2s == 0s, 0, 200'000)));
        for (Made& made : segmenter.take())
            for (const Block& block : std::get<SegmentMade>(made).blocks)
                largest = std::max(largest, block->size());
    }
    EXPECT_GT(largest, wire::mp4::FragmentWriter::kLiveBytes);
    EXPECT_LT(largest, wire::mp4::FragmentWriter::kLiveBytes + 400'000) << "10 MB in all";
}

TEST(Fmp4Packager, EachPartIsAFragment) {
    Segmenter segmenter({.cut_at = 2s, .hard_cut_at = 4'200ms, .waits_for_key = true, .part = 200ms},
                        std::make_unique<Fmp4Packager>());
    const Output output = play(segmenter, 4s);
    ASSERT_EQ(output.parts.size(), 20U);
    for (const PartMade& part : output.parts) {
        ASSERT_EQ(part.blocks.size(), 1U);
        EXPECT_EQ(type_of(part.blocks.front()), "moof");
        EXPECT_EQ(part.init, output.parts.front().init);
    }
    EXPECT_EQ(output.segments.at(0).blocks.size(), 10U);
}

// At a key frame: a player may begin with that segment.
TEST(Fmp4Packager, AudioThatBeginsLateNeedsANewSegment) {
    Segmenter segmenter({.cut_at = 2s, .hard_cut_at = 4'200ms, .waits_for_key = true, .part = {}},
                        std::make_unique<Fmp4Packager>());
    segmenter.push(config_packet(Kind::video, avc_config()));
    for (MediaTime at = 0s; at < 4s; at += 40ms) {
        if (at == 400ms)
            segmenter.push(config_packet(Kind::audio, aac_config(), at));
        segmenter.push(video_packet(at, at % 1s == 0s));
        if (at >= 400ms)
            segmenter.push(audio_packet(at + 5ms));
    }
    segmenter.interrupt();
    const auto made = segmenter.take();
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(std::get<SegmentMade>(made[0]).duration, 1s);
    EXPECT_NE(std::get<SegmentMade>(made[0]).init, std::get<SegmentMade>(made[1]).init);
    EXPECT_EQ(std::get<SegmentMade>(made[1]).start, 1s);
    EXPECT_TRUE(std::get<SegmentMade>(made[1]).discontinuity);
}

TEST(Fmp4Packager, AudioThatBeginsLateWaitsNoLongerThanAHardCutForAKeyPicture) {
    Segmenter segmenter({.cut_at = 2s, .hard_cut_at = 4'200ms, .waits_for_key = true, .part = {}},
                        std::make_unique<Fmp4Packager>());
    segmenter.push(config_packet(Kind::video, avc_config()));
    for (MediaTime at = 0s; at < 6s; at += 40ms) {
        if (at == 400ms)
            segmenter.push(config_packet(Kind::audio, aac_config(), at));
        segmenter.push(video_packet(at, at == 0s));
        if (at >= 400ms)
            segmenter.push(audio_packet(at + 5ms));
    }
    segmenter.interrupt();
    const auto made = segmenter.take();
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(std::get<SegmentMade>(made[0]).duration, 4'205ms);
}

}  // namespace
}  // namespace live::service::hls
