#include "service/ladder/plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace live::service::ladder {
namespace {

LadderOptions ladder_of(const std::vector<std::string>& names) {
    LadderOptions options;
    options.enabled = true;
    for (const std::string& name : names) {
        RenditionOptions& one = options.renditions.emplace_back();
        one.name = name;
    }
    return options;
}

// "360p:360x742".
std::string rungs_of(const LadderOptions& options, std::uint32_t source_height) {
    std::string text;
    for (const Rung& rung : plan_rungs(options, source_height))
        text += fmt::format("{}{}:{}x{}", text.empty() ? "" : " ", rung.name, rung.height, rung.kbps);
    return text;
}

TEST(LadderPlan, SortsByHeightAndHasARateForEach) {
    EXPECT_EQ(rungs_of(ladder_of({"360p", "720p"}), 1080), "720p:720x2500 360p:360x743");
}

TEST(LadderPlan, KeepsOneRenditionOfTheSizeOfTheStream) {
    const auto options = ladder_of({"1080p", "720p", "360p", "180p"});
    EXPECT_EQ(rungs_of(options, 720), "720p:720x2500 360p:360x743 180p:180x221");
    EXPECT_EQ(rungs_of(options, 360), "360p:360x743 180p:180x221");
    EXPECT_EQ(rungs_of(options, 321), "360p:320x605 180p:180x221");
    EXPECT_EQ(rungs_of(options, 180), "180p:180x221 90p:90x66");
    EXPECT_EQ(rungs_of(options, 100), "180p:100x79");
}

TEST(LadderPlan, RenditionsInheritFromTheLadder) {
    LadderOptions options = ladder_of({"low"});
    options.vcodec = "h264_nvenc";
    options.vpreset = "p4";
    options.vthreads = 3;
    options.renditions[0].height = 240;
    options.renditions[0].vbitrate_kbps = 300;
    const Rung rung = plan_rungs(options, 720).front();
    EXPECT_EQ(rung.vcodec + rung.vpreset, "h264_nvencp4");
    EXPECT_EQ(rung.threads, 3U);
    EXPECT_EQ(rung.kbps, 300U);
    options.renditions[0].vcodec = "libx264";
    options.renditions[0].vthreads = 1;
    EXPECT_EQ(plan_rungs(options, 720).front().vcodec, "libx264");
    EXPECT_EQ(plan_rungs(options, 720).front().threads, 1U);
}

TEST(LadderPlan, DecodesOnceAndEncodesEachIntoAPipeOfItsOwn) {
    LadderOptions options = ladder_of({"360p", "180p"});
    options.perfile = {{"hwaccel", "cuda"}};
    options.renditions[1].vparams = {{"tune", "zerolatency"}};
    const std::vector<std::string> expected = {
        "./objs/ffmpeg/bin/ffmpeg", "-hide_banner", "-nostats", "-loglevel", "warning", "-progress", "pipe:3", "-copyts",
        "-probesize", "32768", "-analyzeduration", "500000", "-hwaccel", "cuda", "-threads", "2", "-f", "flv", "-i", "pipe:0",
        "-filter_complex", "[0:v]split=2[s0][s1];[s0]scale=w=-2:h=360[v0];[s1]scale=w=-2:h=180[v1]",
        //
        "-map", "[v0]", "-c:v", "libx264", "-b:v", "743k", "-maxrate", "891k", "-bufsize", "1486k", "-threads", "2", "-preset",
        "veryfast", "-force_key_frames", "source", "-g", "9999", "-bf", "0", "-forced-idr", "1", "-sc_threshold", "0",
        "-rc-lookahead", "10", "-fps_mode", "passthrough", "-enc_time_base", "-1", "-flush_packets", "1", "-flvflags",
        "no_duration_filesize", "-f", "flv", "pipe:4",
        //
        "-map", "[v1]", "-c:v", "libx264", "-b:v", "221k", "-maxrate", "265k", "-bufsize", "442k", "-threads", "2", "-preset",
        "veryfast", "-force_key_frames", "source", "-g", "9999", "-bf", "0", "-forced-idr", "1", "-sc_threshold", "0",
        "-rc-lookahead", "10", "-tune", "zerolatency", "-fps_mode", "passthrough", "-enc_time_base", "-1", "-flush_packets", "1",
        "-flvflags", "no_duration_filesize", "-f", "flv", "pipe:5"};
    EXPECT_EQ(ladder_arguments(options, plan_rungs(options, 720), ""), expected);
}

TEST(LadderPlan, TheFallbackHasNoOptionsOfTheOtherEncoder) {
    LadderOptions options = ladder_of({"360p", "180p"});
    options.perfile = {{"hwaccel", "vaapi"}};
    options.scaler = "scale_vaapi";
    options.vcodec = "h264_vaapi";
    options.vpreset = "p4";
    options.renditions[0].vprofile = "578";
    options.renditions[0].vparams = {{"rc_mode", "CBR"}};
    const auto rungs = plan_rungs(options, 720);
    const auto with_hardware = ladder_arguments(options, rungs, "");
    for (const char* word : {"-hwaccel", "p4", "578", "-rc_mode"})
        EXPECT_NE(std::ranges::count(with_hardware, word), 0) << word;
    EXPECT_EQ(ladder_arguments(options, rungs, "libx264"),
              ladder_arguments({}, plan_rungs(ladder_of({"360p", "180p"}), 720), ""));
}

std::string error_of(const LadderOptions& options) { return check_ladder_options(options, {.vhost = "v"}).error; }

TEST(LadderPlan, ChecksTheConf) {
    EXPECT_EQ(error_of(ladder_of({"720p", "360p"})), "");
    EXPECT_NE(error_of(ladder_of({"low"})), "");
    EXPECT_NE(error_of(ladder_of({"721p"})), "");
    EXPECT_NE(error_of(ladder_of({"62p"})), "");
    EXPECT_NE(error_of(ladder_of({"360p", "360p"})), "");
    EXPECT_NE(error_of(ladder_of({"2p0", "360p"})), "");
    std::vector<std::string> names;
    for (std::size_t i = 0; i <= kRungsMax; ++i)
        names.push_back(std::to_string(100 + 2 * i) + "p");
    EXPECT_NE(error_of(ladder_of(names)), "");
    EXPECT_EQ(check_ladder_options(ladder_of({}), {.vhost = "v"}).warnings.size(), 1U);
}

}  // namespace
}  // namespace live::service::ladder
