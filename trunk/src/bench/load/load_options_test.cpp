#include "bench/load/load_options.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::bench {
namespace {

Result<LoadCommand> parse(Tool tool, std::vector<std::string_view> arguments) { return parse_load_command(tool, arguments); }

LoadOptions options_of(Tool tool, std::vector<std::string_view> arguments) {
    const auto command = parse(tool, std::move(arguments));
    EXPECT_TRUE(command.ok()) << (command.ok() ? "" : command.error().text());
    EXPECT_EQ(command->action, Action::run);
    return command->options;
}

std::string refusal(Tool tool, std::vector<std::string_view> arguments) {
    const auto command = parse(tool, std::move(arguments));
    return command.ok() ? "accepted" : command.error().sentence();
}

TEST(LoadOptions, DefaultsAreThoseOfTheFamily) {
    const auto options = options_of(Tool::rtmp_load, {"-r", "rtmp://h/a/s"});
    EXPECT_EQ(options.clients, 1U);
    EXPECT_EQ(options.repeat, 0U);
    EXPECT_EQ(options.startup, Seconds(5));
    EXPECT_EQ(options.delay, Seconds(1));
    EXPECT_EQ(options.error, Seconds(3));
    EXPECT_EQ(options.summary, Seconds(30));
    EXPECT_EQ(options_of(Tool::http_load, {"-r", "http://h/"}).delay, Seconds(0));
    EXPECT_EQ(options_of(Tool::hls_load, {"-r", "http://h/"}).delay, Seconds(-1));
}

TEST(LoadOptions, ShortAndLongFormsMeanTheSame) {
    const auto options = options_of(Tool::rtmp_publish, {"-c100", "--url=rtmp://h/a/s", "-t", "3", "--start", "0.5", "--delay",
                                                         "2", "-e1.5", "--summary=7", "-i", "a.flv", "--stamp", "--ramp", "50"});
    EXPECT_EQ(options.clients, 100U);
    EXPECT_EQ(options.url, "rtmp://h/a/s");
    EXPECT_EQ(options.repeat, 3U);
    EXPECT_EQ(options.startup, Seconds(0.5));
    EXPECT_EQ(options.delay, Seconds(2));
    EXPECT_EQ(options.error, Seconds(1.5));
    EXPECT_EQ(options.summary, Seconds(7));
    EXPECT_EQ(options.input, "a.flv");
    EXPECT_TRUE(options.stamp);
    EXPECT_EQ(options.ramp, 50);
    EXPECT_TRUE(options_of(Tool::hls_load, {"-oc2", "-r", "http://h/"}).vod);
}

TEST(LoadOptions, OffersWitnessesForDiscardingPrograms) {
    EXPECT_EQ(options_of(Tool::rtmp_load_fast, {"-r", "rtmp://h/a/s"}).witnesses, 0U);
    EXPECT_EQ(options_of(Tool::rtmp_load_fast, {"-r", "rtmp://h/a/s", "--witnesses", "2"}).witnesses, 2U);
    EXPECT_EQ(options_of(Tool::flv_load, {"-r", "http://h/a/s.flv", "--witnesses=1"}).witnesses, 1U);
    EXPECT_GE(options_of(Tool::flv_load, {"-r", "http://h/a/s.flv"}).witnesses, LoadOptions::kClientsMax);
    EXPECT_GE(options_of(Tool::rtmp_load, {"-r", "rtmp://h/a/s"}).witnesses, LoadOptions::kClientsMax);
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-r", "rtmp://h/a/s", "--witnesses", "1"}), "there is no option --witnesses");
}

TEST(LoadOptions, OffersDrivenForProgramsThatReportReady) {
    EXPECT_TRUE(options_of(Tool::rtmp_publish, {"-r", "rtmp://h/a/s", "-i", "a.flv", "--driven"}).driven);
    EXPECT_FALSE(options_of(Tool::rtmp_load, {"-r", "rtmp://h/a/s"}).driven);
    EXPECT_EQ(refusal(Tool::http_load, {"-r", "http://h/", "--driven"}), "there is no option --driven");
}

TEST(LoadOptions, WithoutAUrlThereIsHelp) {
    EXPECT_EQ(parse(Tool::rtmp_load, {})->action, Action::help);
    EXPECT_EQ(parse(Tool::rtmp_load, {"-c", "5"})->action, Action::help);
    EXPECT_EQ(parse(Tool::rtmp_load, {"-h", "--what"})->action, Action::help);
    EXPECT_EQ(parse(Tool::rtmp_load, {"--version"})->action, Action::version);
}

TEST(LoadOptions, ReportsErrors) {
    EXPECT_EQ(refusal(Tool::rtmp_load, {"--clents", "5"}), "there is no option --clents");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-x"}), "there is no option -x");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-o"}), "there is no option -o");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"stream"}), "found \"stream\", expected an option; --help lists them");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-c"}), "--clients needs a value: number of concurrent clients");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-c", "0"}), "--clients: found \"0\", expected a number from 1 to 65000");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-c", "65001"}), "--clients: found \"65001\", expected a number from 1 to 65000");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-s", "x"}), "--startup: found \"x\", expected a number from 0 to 10000000");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-d", "-0.5"}),
              "--delay: found \"-0.5\", expected seconds, or -1 for a fragment's duration");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"--progress=1"}), "--progress takes no value");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"--s", "1"}), "the option --s may be --startup or --summary");
    EXPECT_EQ(refusal(Tool::rtmp_publish, {"-r", "rtmp://h/a/s"}), "publishing needs an FLV file: -i FLV");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-r", "rtmp://h/a/s", "-m", "0"}),
              "--summary: found \"0\", expected more than 0 seconds");
    EXPECT_EQ(refusal(Tool::rtmp_load, {"-r", "rtmp://h/a/s", "-d", "-1"}),
              "--delay: found \"-1\", expected seconds; only fragments have a duration");
}

TEST(LoadOptions, WebRtcPlaysOrPublishes) {
    const auto player = options_of(Tool::rtc_load, {"-r", "http://h/rtc/v1/whep/?app=live&stream=a", "--skip-decryption"});
    EXPECT_FALSE(publishes(Tool::rtc_load, player));
    EXPECT_TRUE(player.skip_decryption);
    EXPECT_EQ(player.delay, Seconds(1));
    const auto publisher = options_of(Tool::rtc_load, {"-r", "http://h/", "-i", "a.flv", "--stamp", "--silence"});
    EXPECT_TRUE(publishes(Tool::rtc_load, publisher));
    EXPECT_TRUE(publisher.stamp && publisher.silence);
    EXPECT_TRUE(publishes(Tool::rtmp_publish, publisher));
    EXPECT_FALSE(publishes(Tool::rtmp_load, publisher));
    EXPECT_EQ(refusal(Tool::rtc_load, {"-r", "http://h/", "--stamp"}),
              "--stamp and --silence require an FLV file to publish: -i FLV");
    EXPECT_EQ(refusal(Tool::rtc_load, {"-r", "http://h/", "-i", "a.flv", "--skip-decryption"}),
              "--skip-decryption is for players, not for -i");
    const auto layered = options_of(Tool::rtc_load, {"-r", "http://h/", "--layers", "150,500,1500"});
    EXPECT_EQ(layered.layers, (std::vector<std::uint64_t>{150'000, 500'000, 1'500'000}));
    EXPECT_TRUE(publishes(Tool::rtc_load, layered));
    EXPECT_EQ(refusal(Tool::rtc_load, {"-r", "http://h/", "--layers", "1,,2"}),
              "--layers: found \"\", expected a number from 1 to 50000");
    EXPECT_EQ(refusal(Tool::rtc_load, {"-r", "http://h/", "--layers", "1,1,1,1,1,1,1,1,1"}),
              "--layers: found \"1\", expected at most 8 layers");
    EXPECT_TRUE(player.twcc);
    EXPECT_FALSE(options_of(Tool::rtc_load, {"-r", "http://h/", "--no-twcc"}).twcc);
    EXPECT_EQ(refusal(Tool::rtc_load, {"-r", "http://h/", "-i", "a.flv", "--no-twcc"}), "--no-twcc is for players, not for -i");
    EXPECT_EQ(refusal(Tool::rtc_load, {"-r", "http://h/", "--ahead", "1"}), "there is no option --ahead");
    EXPECT_NE(help_text(Tool::rtc_load).find("without decryption, authentication"), std::string::npos);
}

TEST(LoadOptions, PrintsTheParamsLine) {
    EXPECT_EQ(params_text(Tool::rtmp_load, options_of(Tool::rtmp_load, {"-c", "100", "-r", "rtmp://h/a/s"})),
              "params url=rtmp://h/a/s, threads=100, start=5.00, delay=1.00, error=3.00, report=30.00, count=0");
    EXPECT_EQ(params_text(Tool::hls_load, options_of(Tool::hls_load, {"-r", "http://h/x.m3u8"})),
              "params url=http://h/x.m3u8, vod=0, threads=1, start=5.00, delay=-1.00, error=3.00, report=30.00, count=0");
}

TEST(LoadOptions, HelpNamesEveryOptionOfTheToolAndNoOther) {
    EXPECT_NE(help_text(Tool::rtmp_publish).find("-i, --input FLV"), std::string::npos);
    EXPECT_EQ(help_text(Tool::rtmp_load).find("--input"), std::string::npos);
    EXPECT_NE(help_text(Tool::hls_load).find("-o, --vod"), std::string::npos);
}

TEST(LoadOptions, ReplacesTheFirstPlaceholderByTheNumber) {
    EXPECT_EQ(url_of_client("rtmp://h/a/s_{i}", 7), "rtmp://h/a/s_7");
    EXPECT_EQ(url_of_client("rtmp://h/{i}/s_{i}", 7), "rtmp://h/7/s_{i}");
    EXPECT_EQ(url_of_client("rtmp://h/a/s", 7), "rtmp://h/a/s");
}

}  // namespace
}  // namespace live::bench
