#include "service/stats/health.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace live::service::stats {
namespace {

HealthFacts good() {
    HealthFacts facts;
    facts.is_published = true;
    facts.video_codec = "H264";
    facts.video_profile = "High";
    facts.audio_codec = "AAC";
    facts.key_frame_distance = 2;
    facts.since_key_frame = 1.5;
    facts.frames_per_second = facts.best_frame_rate = 30;
    return facts;
}

template <class Change>
HealthFacts with(Change&& change) {
    HealthFacts facts = good();
    change(facts);
    return facts;
}

// The text of the only note; "" without a note.
std::string only(const HealthFacts& facts) {
    const auto notes = health_of(facts);
    EXPECT_LE(notes.size(), 1U);
    return notes.empty() ? "" : notes.front().text;
}

std::string code(const HealthFacts& facts) {
    const auto notes = health_of(facts);
    return notes.empty() ? "" : std::string(name_of(notes.front().severity)) + " " + std::string(notes.front().code);
}

TEST(Health, AGoodStreamHasNoNote) { EXPECT_EQ(only(good()), ""); }

TEST(Health, TheSlateIsNoHealthyStream) {
    EXPECT_EQ(code(with([](auto& facts) { facts.shows_slate = true; })), "error slate");
}

TEST(Health, NamesTheDistanceOfKeyFrames) {
    EXPECT_EQ(only(with([](auto& facts) { facts.key_frame_distance = facts.since_key_frame = 10.04; })),
              "Key frames come every 10 s: players wait up to 10 s to start. Set a key frame interval of 2 s in the encoder.");
    EXPECT_EQ(code(with([](auto& facts) { facts.key_frame_distance = 4; })), "warning key_frames_far_apart");
    EXPECT_EQ(code(with([](auto& facts) { facts.key_frame_distance = 3.9; })), "");
    EXPECT_EQ(code(with([](auto& facts) { facts.key_frame_distance = 0.25; })), "warning key_frames_close");
    EXPECT_EQ(
        only(with([](auto& facts) {
            facts.key_frame_distance.reset();
            facts.since_key_frame = 12.5;
        })),
        "The last key frame came 12.5 s ago: new players see nothing until the next one. Set a key frame interval of 2 s in "
        "the encoder.");
    EXPECT_EQ(code(with([](auto& facts) {
                  facts.key_frame_distance = 8;
                  facts.since_key_frame = 15.9;
              })),
              "warning key_frames_far_apart");
}

TEST(Health, NamesBFramesWhereWebRtcPlayersGetTheStream) {
    const auto b_frames = [](auto& facts) { facts.has_b_frames = true; };
    EXPECT_EQ(only(with(b_frames)), "");
    HealthFacts facts = with(b_frames);
    facts.is_bridged_to_rtc = true;
    EXPECT_TRUE(only(facts).starts_with("B-frames are left out for WebRTC")) << only(facts);
    facts.encodes_b_frames = true;
    EXPECT_TRUE(only(facts).starts_with("The stream has B-frames: it is encoded again")) << only(facts);
    facts.keeps_b_frames = true;
    EXPECT_TRUE(only(facts).starts_with("The stream has B-frames")) << only(facts);
}

TEST(Health, NamesTheLaterOfAudioAndVideo) {
    EXPECT_EQ(only(with([](auto& facts) { facts.audio_behind = 0.3; })),
              "Audio is 300 ms late: players wait for it, or play out of step.");
    EXPECT_EQ(only(with([](auto& facts) { facts.audio_behind = -0.25; })),
              "Video is 250 ms late: players wait for it, or play out of step.");
    EXPECT_EQ(only(with([](auto& facts) { facts.audio_behind = 0.19; })), "");
    EXPECT_EQ(code(with([](auto& facts) {
                  facts.audio_behind = -5;
                  facts.without_video = 5;
              })),
              "error video_stopped")
        << "one reason is enough";
}

TEST(Health, NamesMissingMedia) {
    EXPECT_EQ(code(HealthFacts{}), "error not_published");
    EXPECT_EQ(code(with([](auto& facts) { facts.video_codec = facts.audio_codec = ""; })), "error no_media");
    EXPECT_EQ(code(with([](auto& facts) { facts.audio_codec = ""; })), "info no_audio");
    EXPECT_EQ(code(with([](auto& facts) { facts.video_codec = ""; })), "info no_video");
    EXPECT_EQ(only(with([](auto& facts) { facts.audio_problem = "AAC without a sequence header"; })),
              "Most players get no audio: AAC without a sequence header.");
    EXPECT_EQ(only(with([](auto& facts) { facts.without_video = 5; })),
              "No video has arrived for 5 s. The publisher is still connected.");
}

TEST(Health, NamesCodecsThatFewPlayersHave) {
    EXPECT_EQ(code(with([](auto& facts) { facts.video_profile = "High(444+Predictive)"; })), "warning profile");
    EXPECT_EQ(code(with([](auto& facts) { facts.video_profile = "High(10)"; })), "warning profile");
    EXPECT_EQ(only(with([](auto& facts) { facts.video_codec = "HEVC"; })),
              "The video is HEVC: not every browser and player can play it.");
}

TEST(Health, NamesAFrameRateThatFell) {
    EXPECT_EQ(only(with([](auto& facts) { facts.frames_per_second = 12; })),
              "The frame rate fell from 30 to 12 per second: the encoder or its network is too slow.");
    EXPECT_EQ(only(with([](auto& facts) { facts.frames_per_second = 18; })), "");
    EXPECT_EQ(only(with([](auto& facts) { facts.frames_per_second = facts.best_frame_rate = 1; })), "");
}

TEST(Health, TheMostSevereNoteIsFirst) {
    const auto notes = health_of(with([](auto& facts) {
        facts.video_codec = "HEVC";
        facts.key_frame_distance = 6;
        facts.audio_problem = "AAC without a sequence header";
    }));
    ASSERT_EQ(notes.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(notes, std::greater(), &HealthNote::severity));
    EXPECT_EQ(notes[0].code, "audio_left_out");
    EXPECT_EQ(notes[2].code, "video_codec");
}

}  // namespace
}  // namespace live::service::stats
