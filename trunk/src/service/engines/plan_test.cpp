#include "service/engines/plan.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

namespace live::service::engines {
namespace {

using Words = std::vector<std::string>;
using OptionEdit = std::function<void(ffmpeg::EngineOptions&)>;

const Input kInput{"__defaultVhost__", "live", "cam", "?key=1"};
const Place kPlace{{1935, 19350}, "info", Zone::utc};

Engine engine_with(const OptionEdit& edit = {}) {
    Engine engine;
    engine.ffmpeg = "./ffmpeg";
    engine.options.name = "ff";
    engine.options.enabled = true;
    engine.options.vcodec = "copy";
    engine.options.acodec = "copy";
    engine.options.output = "rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]_[engine]";
    if (edit)
        edit(engine.options);
    return engine;
}

Result<Command> command_of(const Engine& engine, const Input& input = kInput) {
    return build_command({engine}, input, kPlace, std::chrono::system_clock::from_time_t(0));
}

// The words between the program and the output, without those that every child has.
Words words_of(const OptionEdit& edit, Feed feed = Feed::pipe) {
    Engine engine = engine_with(edit);
    engine.feed = feed;
    Words words = MUST(command_of(engine)).arguments;
    const Words first = {"./ffmpeg", "-loglevel", "info", "-hide_banner", "-nostats", "-progress", "pipe:3"};
    EXPECT_TRUE(std::equal(first.begin(), first.end(), words.begin()));
    EXPECT_EQ(words[words.size() - 2], "-y");
    return {words.begin() + static_cast<std::ptrdiff_t>(first.size()), words.end() - 2};
}

std::string output_for(const std::string& output, const Input& input = kInput) {
    const auto command = command_of(engine_with([&](auto& options) { options.output = output; }), input);
    return command.ok() ? command->outputs.front().text : command.error().sentence();
}

struct TableRow {
    const char* name;
    OptionEdit edit;
    Words words;
};

Words joined(std::initializer_list<Words> parts) {
    Words words;
    for (const Words& part : parts)
        words.insert(words.end(), part.begin(), part.end());
    return words;
}

const Words kFlvInput = {"-f", "flv", "-i", "pipe:0"};
const Words kCopies = {"-vcodec", "copy", "-acodec", "copy"};

Words with(const Words& before, const Words& after) { return joined({before, kFlvInput, after, {"-f", "flv"}}); }
Words video(const Words& after) { return with({}, joined({{"-vcodec", "libx264"}, after, {"-acodec", "copy"}})); }
Words audio(const Words& after) { return with({}, joined({{"-vcodec", "copy", "-acodec", "aac"}, after})); }

OptionEdit x264(const OptionEdit& edit) {
    return [edit](ffmpeg::EngineOptions& options) {
        options.vcodec = "libx264";
        options.vthreads = 0;
        edit(options);
    };
}

OptionEdit aac(const OptionEdit& edit) {
    return [edit](ffmpeg::EngineOptions& options) {
        options.acodec = "aac";
        edit(options);
    };
}

Engine sharing(const OptionEdit& edit = {}) {
    Engine engine = engine_with(edit);
    engine.share_process = true;
    return engine;
}

bool can_share(const Engine& engine) { return engines::can_share(engine, MUST(command_of(engine))); }

// The words of the second output of a child that has two.
Words second_words(const OptionEdit& edit) {
    const auto command = MUST(build_command({sharing(), sharing(edit)}, kInput, kPlace, {}));
    const Words& words = command.arguments;
    const auto first = std::ranges::find(words, "pipe:4");
    EXPECT_EQ(words.back(), "pipe:5");
    EXPECT_EQ(words[words.size() - 2], "-y");
    return first == words.end() ? words : Words{first + 1, words.end() - 2};
}

// In a child of its own, and as one of two outputs if that is possible.
void check(const std::vector<TableRow>& rows) {
    for (const TableRow& row : rows) {
        EXPECT_EQ(words_of(row.edit), row.words) << row.name;
        const Words output = {std::ranges::find(row.words, "pipe:0") + 1, row.words.end()};
        if (can_share(sharing(row.edit))) {
            EXPECT_EQ(second_words(row.edit), output) << row.name;
        }
    }
}

// Each line of the table of arguments, as the reference builds it.
TEST(EnginePlan, EachOptionOfVideoHasItsPlace) {
    check({
        {"copy", {}, with({}, kCopies)},
        {"perfile", [](auto& options) { options.perfile = {{"re", ""}, {"rw_timeout", "5"}}; },
         with({"-re", "-rw_timeout", "5"}, kCopies)},
        {"vfilter", [](auto& options) { options.vfilter = {{"i", "./logo.png"}, {"filter_complex", "overlay=10:10"}}; },
         with({}, {"-i", "./logo.png", "-filter_complex", "overlay=10:10", "-vcodec", "copy", "-acodec", "copy"})},
        {"vn", [](auto& options) { options.vcodec = "vn"; }, with({}, {"-vn", "-acodec", "copy"})},
        {"an", [](auto& options) { options.acodec = "an"; }, with({}, {"-vcodec", "copy", "-an"})},
        {"vcodec", x264([](auto&) {}), video({})},
        {"vbitrate", x264([](auto& options) { options.vbitrate_kbps = 1500; }), video({"-b:v", "1500000"})},
        {"vfps", x264([](auto& options) { options.vfps = 25; }), video({"-r", "25.00"})},
        {"a fraction", x264([](auto& options) { options.vfps = 29.97; }), video({"-r", "29.97"})},
        {"more decimals", x264([](auto& options) { options.vfps = 23.976; }), video({"-r", "23.976"})},
        {"size", x264([](auto& options) {
             options.vwidth = 1280;
             options.vheight = 720;
         }),
         video({"-s", "1280x720", "-aspect", "1280:720"})},
        {"an odd size", x264([](auto& options) {
             options.vwidth = 641;
             options.vheight = 361;
         }),
         video({"-s", "640x360", "-aspect", "640:360"})},
        {"half a size", x264([](auto& options) { options.vwidth = 1280; }), video({})},
        {"vthreads", x264([](auto& options) { options.vthreads = 4; }), video({"-threads", "4"})},
        {"vprofile", x264([](auto& options) { options.vprofile = "main"; }), video({"-profile:v", "main"})},
        {"vpreset", x264([](auto& options) { options.vpreset = "fast"; }), video({"-preset", "fast"})},
        {"vparams", x264([](auto& options) { options.vparams = {{"g", "100"}, {"x", ""}, {"bf", "0"}}; }),
         video({"-g", "100", "-x", "-bf", "0"})},
    });
}

TEST(EnginePlan, EachOptionOfAudioAndFormatsHasItsPlace) {
    check({
        {"acodec", aac([](auto&) {}), audio({})},
        {"abitrate", aac([](auto& options) { options.abitrate_kbps = 64; }), audio({"-b:a", "64000"})},
        {"asample_rate", aac([](auto& options) { options.asample_rate = 44100; }), audio({"-ar", "44100"})},
        {"achannels", aac([](auto& options) { options.achannels = 2; }), audio({"-ac", "2"})},
        {"aparams", aac([](auto& options) { options.aparams = {{"profile:a", "aac_low"}}; }), audio({"-profile:a", "aac_low"})},
        {"aparams of a copy", [](auto& options) { options.aparams = {{"profile:a", "aac_low"}, {"bsf:a", "aac_adtstoasc"}}; },
         with({}, {"-vcodec", "copy", "-acodec", "copy", "-bsf:a", "aac_adtstoasc"})},
        {"oformat",
         [](auto& options) { options.oformat = "mpegts"; },
         {"-f", "flv", "-i", "pipe:0", "-vcodec", "copy", "-acodec", "copy", "-f", "mpegts"}},
        {"no oformat",
         [](auto& options) { options.oformat = "off"; },
         {"-f", "flv", "-i", "pipe:0", "-vcodec", "copy", "-acodec", "copy"}},
        {"an empty oformat",
         [](auto& options) { options.oformat = ""; },
         {"-f", "flv", "-i", "pipe:0", "-vcodec", "copy", "-acodec", "copy"}},
        {"no iformat",
         [](auto& options) { options.iformat = "off"; },
         {"-i", "pipe:0", "-vcodec", "copy", "-acodec", "copy", "-f", "flv"}},
        {"an empty iformat",
         [](auto& options) { options.iformat = ""; },
         {"-i", "pipe:0", "-vcodec", "copy", "-acodec", "copy", "-f", "flv"}},
    });
}

TEST(EnginePlan, AllOptionsTogetherHaveTheOrderOfTheReference) {
    const auto edit = [](ffmpeg::EngineOptions& options) {
        options.perfile = {{"re", ""}};
        options.vfilter = {{"vf", "drawtext=text=live; rm -rf"}};
        options.vcodec = "libx264";
        options.vbitrate_kbps = 1500;
        options.vfps = 25;
        options.vwidth = 1280;
        options.vheight = 720;
        options.vthreads = 4;
        options.vprofile = "main";
        options.vpreset = "fast";
        options.vparams = {{"g", "100"}};
        options.acodec = "aac";
        options.abitrate_kbps = 64;
        options.asample_rate = 44100;
        options.achannels = 2;
        options.aparams = {{"profile:a", "aac_low"}};
    };
    EXPECT_EQ(words_of(edit),
              (Words{"-re",      "-f",      "flv",      "-i",       "pipe:0",  "-vf",        "drawtext=text=live; rm -rf",
                     "-vcodec",  "libx264", "-b:v",     "1500000",  "-r",      "25.00",      "-s",
                     "1280x720", "-aspect", "1280:720", "-threads", "4",       "-profile:v", "main",
                     "-preset",  "fast",    "-g",       "100",      "-acodec", "aac",        "-b:a",
                     "64000",    "-ar",     "44100",    "-ac",      "2",       "-profile:a", "aac_low",
                     "-f",       "flv"}));
}

TEST(EnginePlan, EnginesOfOneChildHaveOneInputAndAnOutputEach) {
    const auto small = [](ffmpeg::EngineOptions& options) {
        options.name = "sd";
        options.perfile = {{"re", ""}};
        options.vcodec = "libx264";
        options.vwidth = 640;
        options.vheight = 360;
        options.vparams = {{"g", "50"}};
        options.acodec = "aac";
        options.abitrate_kbps = 48;
    };
    const auto audio_only = [](ffmpeg::EngineOptions& options) {
        options.name = "audio";
        options.perfile = {{"re", ""}};
        options.vcodec = "vn";
    };
    const auto command = MUST(build_command({sharing(small), sharing(audio_only)}, kInput, kPlace, {}));
    EXPECT_EQ(command.arguments,
              (Words{"./ffmpeg", "-loglevel", "info",   "-hide_banner", "-nostats", "-progress", "pipe:3",  "-re",     "-f",
                     "flv",      "-i",        "pipe:0", "-vcodec",      "libx264",  "-s",        "640x360", "-aspect", "640:360",
                     "-threads", "1",         "-g",     "50",           "-acodec",  "aac",       "-b:a",    "48000",   "-f",
                     "flv",      "-y",        "pipe:4", "-vn",          "-acodec",  "copy",      "-f",      "flv",     "-y",
                     "pipe:5"}));
    EXPECT_TRUE(command.is_piped_in && command.is_piped_out);
    ASSERT_EQ(command.outputs.size(), 2U);
    EXPECT_EQ(command.outputs[0].own->stream, "cam_sd");
    EXPECT_EQ(command.outputs[1].own->stream, "cam_audio");
}

TEST(EnginePlan, AnEngineSharesAChildIfItsOutputIsWatchedAndItsOptionsAreItsOwn) {
    EXPECT_TRUE(can_share(sharing()));
    EXPECT_FALSE(can_share(engine_with())) << "not configured";
    Engine engine = sharing();
    engine.on_demand = true;
    EXPECT_FALSE(can_share(engine)) << "it has players of its own";
    engine = sharing();
    engine.feed = Feed::socket;
    EXPECT_FALSE(can_share(engine));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.output = "./[stream].flv"; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.output = "rtmp://example.net/live/cam"; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.oformat = "mpegts"; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.perfile = {{"rtmp_live", "live"}}; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.vfilter = {{"i", "./logo.png"}}; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.vfilter = {{"filter_complex", "hflip"}}; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.vparams = {{"vsync", "0"}}; })));
    EXPECT_FALSE(can_share(sharing([](auto& options) { options.aparams = {{"async", "1"}}; })));
    EXPECT_TRUE(can_share(sharing([](auto& options) { options.vfilter = {{"vf", "hflip"}}; })));
}

TEST(EnginePlan, EnginesOfOneChildHaveTheSameInput) {
    const Engine one = sharing();
    EXPECT_TRUE(have_same_input(one, sharing([](auto& options) { options.vcodec = "libx264"; })));
    EXPECT_FALSE(have_same_input(one, sharing([](auto& options) { options.perfile = {{"re", ""}}; })));
    EXPECT_FALSE(have_same_input(one, sharing([](auto& options) { options.iformat = "off"; })));
    Engine other = one;
    other.ffmpeg = "./other";
    EXPECT_FALSE(have_same_input(one, other));
    other = one;
    other.scope = "live";
    EXPECT_FALSE(have_same_input(one, other));
}

TEST(EnginePlan, AnEmptyLogLevelIsLeftOut) {
    Place place = kPlace;
    place.log_level = "";
    const auto command = MUST(build_command({engine_with()}, kInput, place, {}));
    EXPECT_EQ((Words{command.arguments.begin(), command.arguments.begin() + 3}), (Words{"./ffmpeg", "-hide_banner", "-nostats"}));
}

TEST(EnginePlan, AStreamOfThisServerReturnsByAPipe) {
    const auto command = MUST(command_of(engine_with()));
    EXPECT_TRUE(command.is_piped_in);
    EXPECT_TRUE(command.is_piped_out);
    EXPECT_EQ(command.arguments.back(), "pipe:4");
    ASSERT_EQ(command.outputs.size(), 1U);
    const auto& own = command.outputs.front().own;
    ASSERT_TRUE(own);
    EXPECT_EQ(own->app, "live");
    EXPECT_EQ(own->stream, "cam_ff");
    EXPECT_EQ(MUST(command_of(engine_with(), {"v", "live", "cam"})).outputs.front().own->vhost, "v");
}

TEST(EnginePlan, ASocketHasTheUrlsOfTheReference) {
    Engine engine = engine_with();
    engine.feed = Feed::socket;
    const auto command = MUST(command_of(engine));
    EXPECT_FALSE(command.is_piped_in);
    EXPECT_FALSE(command.is_piped_out);
    const Words& words = command.arguments;
    EXPECT_EQ(words[10], "rtmp://127.0.0.1:1935/live/cam?vhost=__defaultVhost__&key=1");
    EXPECT_EQ(words.back(), "rtmp://127.0.0.1:1935/live?vhost=__defaultVhost__/cam_ff?from_engine=1");
}

TEST(EnginePlan, APipeIsNoInputForOptionsOfRtmp) {
    EXPECT_EQ(words_of([](auto& options) { options.perfile = {{"rtmp_live", "live"}}; }).at(5),
              "rtmp://127.0.0.1:1935/live/cam?vhost=__defaultVhost__&key=1");
    EXPECT_EQ(words_of([](auto& options) { options.iformat = "other"; }).at(3),
              "rtmp://127.0.0.1:1935/live/cam?vhost=__defaultVhost__&key=1");
}

TEST(EnginePlan, OutputsElsewhereAreLeftAsTheyAre) {
    for (const char* output :
         {"rtmp://example.net/live/cam", "rtmp://127.0.0.1:1999/live/cam", "srt://127.0.0.1:1935?streamid=a", "./a.flv"}) {
        const auto command = MUST(command_of(engine_with([&](auto& options) { options.output = output; })));
        EXPECT_FALSE(command.outputs.front().own) << output;
        EXPECT_FALSE(command.is_piped_out) << output;
        EXPECT_EQ(command.arguments.back(), output);
    }
    const auto other_port =
        MUST(command_of(engine_with([](auto& options) { options.output = "rtmp://localhost:19350/live/x"; })));
    EXPECT_TRUE(other_port.is_piped_out) << "every listener is this server's";
}

TEST(EnginePlan, NamesTheLogOfAChild) {
    Place place = kPlace;
    Engine engine = engine_with();
    EXPECT_EQ(engine_log_path(engine, kInput, place), "");
    place.log_dir = "/dev/null";
    EXPECT_EQ(engine_log_path(engine, kInput, place), "");
    place.log_dir = "./objs";
    EXPECT_EQ(engine_log_path(engine, kInput, place), "./objs/ffmpeg-encoder-__defaultVhost__-live-cam-ff.log");
    engine.options.name = "";
    EXPECT_EQ(engine_log_path(engine, kInput, place), "./objs/ffmpeg-encoder-__defaultVhost__-live-cam.log");
    EXPECT_EQ(engine_log_path(engine, {"v/..", "a b", "../x", ""}, place), "./objs/ffmpeg-encoder-v_..-a_b-_._x.log");
}

TEST(EnginePlan, ReplacesVariables) {
    EXPECT_EQ(output_for("./[vhost]/[app]/[stream]-[engine]-[port]-[2006][01][02].flv"),
              "./__defaultVhost__/live/cam-ff-1935-19700101.flv");
    EXPECT_EQ(output_for("rtmp://h/live/[stream][param]"), "rtmp://h/live/cam?key=1");
    EXPECT_EQ(output_for("./[unknown].flv"), "./[unknown].flv");
}

TEST(EnginePlan, NamesOfStreamsStayNames) {
    const auto named = [](const std::string& stream) { return Input{"v", "live", stream}; };
    EXPECT_EQ(output_for("[stream]", named("-h")), "its output would become the option -h");
    EXPECT_EQ(output_for("[stream].flv", named("concat:/etc/passwd")), "its output would use the protocol concat");
    EXPECT_EQ(output_for("[stream].flv", named("file:a")), "its output would use the protocol file");
    EXPECT_EQ(output_for("./[stream]/x.flv", named("..")), "its output would be outside its folder: ./../x.flv");
    EXPECT_EQ(output_for("./[stream].flv", named("a:b;c d")), "./a:b;c d.flv") << "one argument of no shell";
    const Input query{"v", "live", "cam", "?a=|[f=flv]/etc/x"};
    EXPECT_EQ(output_for("rtmp://h/live/cam[param]", query), "rtmp://h/live/cam?a=%7C%5Bf=flv%5D/etc/x");
}

TEST(EnginePlan, ReportsEnginesThatCannotRun) {
    const auto error = [](const OptionEdit& edit) {
        const auto command = command_of(engine_with(edit));
        return command.ok() ? std::string() : command.error().sentence();
    };
    EXPECT_EQ(error([](auto& options) { options.output = ""; }), "it has no output");
    EXPECT_EQ(error([](auto& options) {
                  options.vcodec = "vn";
                  options.acodec = "an";
              }),
              "it has neither video (vn) nor audio (an)");
    EXPECT_EQ(error([](auto& options) {
                  options.acodec = "libaacplus";
                  options.abitrate_kbps = 73;
              }),
              "libaacplus has an abitrate of 73, expected 16..72");
    EXPECT_EQ(error([](auto& options) {
                  options.acodec = "libaacplus";
                  options.abitrate_kbps = 72;
              }),
              "");
}

struct Scopes : testing::Test {
    Scopes() {
        for (const char* scope : {"", "live", "live/cam", "live/cam", "other"}) {
            TranscodeOptions& block = blocks.emplace_back();
            block.scope = scope;
            block.enabled = true;
            block.ffmpeg = "ffmpeg";
            block.engines.push_back(engine_with().options);
            block.engines.back().name = std::string("of ") + scope;
        }
        blocks[3].engines.back().name = "second";
    }
    Words names(Origin origin = Origin::client, std::string_view app = "live", std::string_view stream = "cam") const {
        Words names;
        for (const Engine& engine : engines_of(blocks, app, stream, origin))
            names.push_back(engine.options.name);
        return names;
    }
    std::vector<TranscodeOptions> blocks;
};

TEST_F(Scopes, AddUpAndTheFirstOfEachCounts) {
    EXPECT_EQ(names(), (Words{"of ", "of live", "of live/cam"}));
    EXPECT_EQ(names(Origin::client, "live", "x"), (Words{"of ", "of live"}));
    EXPECT_EQ(names(Origin::client, "x", "cam"), (Words{"of "}));
}

TEST_F(Scopes, OfAnEngineNameTheStream) {
    EXPECT_EQ(names(Origin::engine), (Words{"of live/cam"}));
    EXPECT_EQ(names(Origin::engine, "live", "x"), Words());
}

TEST_F(Scopes, RunWhatIsEnabledAndHasAProgram) {
    blocks[0].enabled = false;
    blocks[1].ffmpeg = "";
    blocks[2].engines.back().enabled = false;
    EXPECT_EQ(names(), Words());
}

}  // namespace
}  // namespace live::service::engines
