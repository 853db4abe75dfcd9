#include "service/ffmpeg/arguments.hpp"

#include <gtest/gtest.h>

namespace live::service::ffmpeg {
namespace {

using Words = std::vector<std::string>;

Words engine_words(const EngineOptions& engine) {
    Words words;
    append_engine(words, engine);
    return words;
}

TEST(FfmpegArguments, CopiesWithADisabledEngine) {
    EngineOptions engine;
    engine.vcodec = "libx264";
    EXPECT_EQ(engine_words(engine), (Words{"-vcodec", "copy", "-acodec", "copy", "-f", "flv"}));
}

TEST(FfmpegArguments, CopiesWithoutEncoders) {
    EngineOptions engine;
    engine.enabled = true;
    EXPECT_EQ(engine_words(engine), (Words{"-vcodec", "copy", "-acodec", "copy", "-f", "flv"}));
}

TEST(FfmpegArguments, FollowTheOrderOfTheReference) {
    EngineOptions engine;
    engine.enabled = true;
    engine.vfilter = {{"vf", "drawtext=text=live; rm -rf"}};
    engine.vcodec = "libx264";
    engine.vbitrate_kbps = 1500;
    engine.vfps = 25;
    engine.vwidth = 1280;
    engine.vheight = 720;
    engine.vthreads = 4;
    engine.vprofile = "main";
    engine.vpreset = "fast";
    engine.vparams = {{"g", "100"}, {"an_flag", ""}};
    engine.acodec = "aac";
    engine.abitrate_kbps = 64;
    engine.asample_rate = 44100;
    engine.achannels = 2;
    engine.aparams = {{"profile:a", "aac_low"}};
    engine.oformat = "mpegts";
    EXPECT_EQ(engine_words(engine), (Words{"-vf",        "drawtext=text=live; rm -rf",
                                           "-vcodec",    "libx264",
                                           "-b:v",       "1500000",
                                           "-r",         "25.00",
                                           "-s",         "1280x720",
                                           "-aspect",    "1280:720",
                                           "-threads",   "4",
                                           "-profile:v", "main",
                                           "-preset",    "fast",
                                           "-g",         "100",
                                           "-an_flag",   "-acodec",
                                           "aac",        "-b:a",
                                           "64000",      "-ar",
                                           "44100",      "-ac",
                                           "2",          "-profile:a",
                                           "aac_low",    "-f",
                                           "mpegts"}));
}

TEST(FfmpegArguments, OmitsOrCopiesATrack) {
    EngineOptions engine;
    engine.enabled = true;
    engine.vcodec = "vn";
    engine.acodec = "copy";
    engine.oformat = "off";
    EXPECT_EQ(engine_words(engine), (Words{"-vn", "-acodec", "copy"}));
    engine.vcodec = "";
    engine.acodec = "an";
    EXPECT_EQ(engine_words(engine), (Words{"-vcodec", "copy", "-an"}));
}

TEST(FfmpegArguments, FallsBackToThePathForTheDefaultProgram) {
    EXPECT_EQ(choose_program("./objs/ffmpeg/bin/ffmpeg", true), "./objs/ffmpeg/bin/ffmpeg");
    EXPECT_EQ(choose_program("./objs/ffmpeg/bin/ffmpeg", false), "ffmpeg");
    EXPECT_EQ(choose_program("", false), "ffmpeg");
    EXPECT_EQ(choose_program("/opt/ffmpeg", false), "/opt/ffmpeg");
}

TEST(FfmpegArguments, FileNamesCannotClimb) {
    EXPECT_EQ(as_file_name("../../etc"), "_._.._etc");
    EXPECT_EQ(as_file_name("__defaultVhost__"), "__defaultVhost__");
    EXPECT_EQ(as_file_name("a b/c"), "a_b_c");
    EXPECT_EQ(as_file_name(""), "_");
}

TEST(FfmpegArguments, FindsPartsOfAPathThatClimb) {
    for (const char* path : {"..", "../x", "x/..", "x/../y", "/.."})
        EXPECT_TRUE(has_parent_folder(path)) << path;
    for (const char* path : {"", ".", "...", "a..b/c", "..x/y", "x/y.."})
        EXPECT_FALSE(has_parent_folder(path)) << path;
}

}  // namespace
}  // namespace live::service::ffmpeg
