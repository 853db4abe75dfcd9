#include "service/slate/slate_form.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"

namespace live::service::slate {
namespace {

using wire::codec::Codec;

std::string text_of(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

struct SlateFormTest : ::testing::Test {
    media::SlabPool pool;
    media::PlayOptions options;
    Ref<media::Source> source = make_ref<media::Source>("/live/test", options, 60'000U, pool);
};

TEST_F(SlateFormTest, IsThatOfTheDefaultTracks) {
    EXPECT_EQ(form_of(source->tracks()).code(), Errc::not_found);
    media::append_tag(*source, MediaKind::video, true, true, {}, media::avc_config_body());
    media::append_tag(*source, MediaKind::audio, false, true, {}, media::aac_config_body());
    const auto form = form_of(source->tracks());
    ASSERT_TRUE(form.ok()) << form.error().text();
    EXPECT_EQ(form->video, Codec::avc);
    EXPECT_GT(form->width, 0);
    EXPECT_EQ(form->profile, wire::codec::avc_vectors().front().record[1]);
    EXPECT_EQ(form->audio, Codec::aac);
    EXPECT_EQ(form->sample_rate, 44'100U);
    EXPECT_EQ(form->channels, 2);
}

TEST_F(SlateFormTest, OtherCodecsHaveNone) {
    media::Packet frame = media::plain_packet(MediaKind::video, true, false, {}, Slice::copy_of(std::vector<std::uint8_t>(8)));
    frame.codec = Codec::vp8;
    source->append(std::move(frame));
    EXPECT_EQ(form_of(source->tracks()).code(), Errc::unsupported);
}

TEST(SlateArguments, FitTheFileIntoTheStream) {
    const SlateForm form{.video = Codec::avc,
                         .profile = 66,
                         .width = 640,
                         .height = 360,
                         .audio = Codec::aac,
                         .sample_rate = 44'100,
                         .channels = 1};
    EXPECT_EQ(form.text(), "H264 640x360, AAC 44100 Hz");
    const std::string words = text_of(slate_arguments(form, "./break.mp4", Sound::of_file));
    EXPECT_NE(words.find("-t 60 -i file:./break.mp4 -map 0:v:0 -map 0:a:0"), std::string::npos) << words;
    EXPECT_NE(words.find("scale=640:360:force_original_aspect_ratio=decrease,pad=640:360"), std::string::npos) << words;
    EXPECT_NE(words.find("-c:v libx264"), std::string::npos) << words;
    EXPECT_NE(words.find("-bf 0"), std::string::npos) << words;
    EXPECT_NE(words.find("-profile:v baseline"), std::string::npos) << words;
    EXPECT_NE(words.find("-c:a aac -b:a 64k -ar 44100 -ac 1"), std::string::npos) << words;
    EXPECT_TRUE(words.ends_with("-f mpegts pipe:1")) << words;
}

TEST(SlateArguments, AnImageIsShortAndSilent) {
    const std::string words = text_of(slate_arguments(usual_form(), "Break.PNG", Sound::of_file));
    EXPECT_NE(words.find("-loop 1 -framerate 25 -t 2 -i file:Break.PNG -f lavfi -t 2 -i anullsrc"), std::string::npos) << words;
    EXPECT_NE(words.find("-map 0:v:0 -map 1:a:0"), std::string::npos) << words;
    EXPECT_NE(words.find("scale=trunc(iw/2)*2:trunc(ih/2)*2"), std::string::npos) << words;
}

TEST(SlateArguments, AStreamOfOneKindHasASlateOfThatKind) {
    SlateForm form = usual_form();
    form.audio = Codec::none;
    EXPECT_EQ(text_of(slate_arguments(form, "a.mp4", Sound::silence)).find("anullsrc"), std::string::npos);
    form = usual_form();
    form.video = Codec::none;
    const std::string words = text_of(slate_arguments(form, "a.mp4", Sound::of_file));
    EXPECT_EQ(words.find("0:v:0"), std::string::npos) << words;
    EXPECT_EQ(words.find("-c:v"), std::string::npos) << words;
}

TEST(SlateArguments, HevcAndOpusHaveTheirEncoders) {
    const SlateForm form{
        .video = Codec::hevc, .width = 640, .height = 360, .audio = Codec::opus, .sample_rate = 48'000, .channels = 2};
    const std::string words = text_of(slate_arguments(form, "a.mp4", Sound::of_file));
    EXPECT_NE(words.find("-c:v libx265"), std::string::npos) << words;
    EXPECT_NE(words.find("-c:a libopus"), std::string::npos) << words;
    EXPECT_EQ(words.find("-profile:v"), std::string::npos) << words;
}

}  // namespace
}  // namespace live::service::slate
