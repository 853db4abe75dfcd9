#include "app/start/command_line.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "base/version.hpp"

namespace live::app {
namespace {

Result<CommandLine> parse(std::initializer_list<std::string_view> arguments, const config::Environment& environment = {}) {
    const std::vector<std::string_view> list(arguments);
    return parse_command_line(list, environment);
}

// "run a.conf", "test a.conf", "run env", "help", "error".
std::string said(std::initializer_list<std::string_view> arguments, const config::Environment& environment = {}) {
    const auto line = parse(arguments, environment);
    if (!line.ok())
        return "error";
    switch (line->action) {
        case Action::run: return "run " + (line->env_only ? "env" : line->conf_file);
        case Action::test: return "test " + (line->env_only ? "env" : line->conf_file);
        case Action::version: return "version";
        case Action::signature: return "signature";
        case Action::help: return "help";
    }
    return "";
}

TEST(CommandLine, TakesTheConfFileFromTheRestOfTheTokenOrTheNext) {
    EXPECT_EQ(said({"-c", "a.conf"}), "run a.conf");
    EXPECT_EQ(said({"-ca.conf"}), "run a.conf");
    EXPECT_EQ(said({"-c", "-odd"}), "run -odd");
    EXPECT_EQ(said({"-t", "-c", "a.conf"}), "test a.conf");
    EXPECT_EQ(said({"-c", "a.conf", "-t"}), "test a.conf");
    EXPECT_EQ(said({"-tc", "a.conf"}), "test a.conf");
    EXPECT_EQ(said({"-tca.conf"}), "test a.conf");
    EXPECT_EQ(said({"-c", "a.conf", "-c", "b.conf"}), "run b.conf");
}

TEST(CommandLine, SaysWhoItIsAtOnce) {
    for (const char* option : {"-v", "-V", "--version", "--v", "-vq"})
        EXPECT_EQ(said({option}), "version") << option;
    for (const char* option : {"-g", "-G"})
        EXPECT_EQ(said({option}), "signature") << option;
    for (const char* option : {"-h", "-?", "--help"})
        EXPECT_EQ(said({option}), "help") << option;
    EXPECT_EQ(said({"-c", "a.conf", "-v", "-q"}), "version");
}

TEST(CommandLine, HelpsWhoSaysNothingOrNoOption) {
    EXPECT_EQ(said({}), "help");
    EXPECT_EQ(said({"conf/srs.conf"}), "help");
    EXPECT_EQ(said({"-t", "conf/srs.conf"}), "help");
}

TEST(CommandLine, RefusesUnknownLettersAndAMissingFile) {
    for (const std::string_view option : {"-q", "-x", "-tq", "-c", "-tc"})
        EXPECT_EQ(said({option}), "error") << option;
    EXPECT_EQ(said({"-t"}), "error");
    EXPECT_EQ(said({"-"}), "error");
    EXPECT_EQ(said({"-c", ""}), "error");
    EXPECT_EQ(parse({"-tq"}).error().sentence(), "found the option \"q\" in \"tq\", expected one of -c -e -t -v -g -h");
    EXPECT_NE(parse({"-t"}).error().sentence().find("config file not specified"), std::string::npos);
}

TEST(CommandLine, TheEnvironmentWins) {
    EXPECT_EQ(said({}, {{"SRS_CONFIG_FILE", "e.conf"}}), "run e.conf");
    EXPECT_EQ(said({"-c", "a.conf"}, {{"SRS_CONFIG_FILE", "e.conf"}}), "run e.conf");
    EXPECT_EQ(said({"-c", "a.conf"}, {{"SRS_CONFIG_FILE", ""}}), "run a.conf");
    EXPECT_EQ(said({"-e"}), "run env");
    EXPECT_EQ(said({}, {{"SRS_ENV_ONLY", "on"}}), "run env");
    EXPECT_EQ(said({"-t"}, {{"SRS_ENV_ONLY", "1"}}), "test env");
    EXPECT_EQ(said({}, {{"SRS_ENV_ONLY", ""}}), "help");
}

TEST(CommandLine, HelpShowsOptionsAndSignals) {
    const std::string help = help_text("./objs/srs");
    for (const char* part : {"Millrace, SRS/", "Usage: ./objs/srs", "-c FILE", "-t ", "-e ", "SIGHUP", "SIGUSR1", "SIGTERM",
                             "SIGQUIT", "independent"})
        EXPECT_NE(help.find(part), std::string::npos) << part;
}

TEST(Version, TheTextIsMadeOfTheNumbers) {
    const std::string numbers =
        std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor) + "." + std::to_string(kVersionRevision);
    EXPECT_EQ(kVersion, numbers);
    EXPECT_TRUE(kSignature.starts_with(std::string(kProduct) + "/" + numbers + "("));
}

TEST(CommandLine, TakesTheSeatThatAMasterGives) {
    const service::workers::Seat seat{2, 3, 5};
    const std::string entry = worker_variable(seat, "a/b");
    const std::size_t at = entry.find('=');
    const config::Environment environment = {{entry.substr(0, at), entry.substr(at + 1)}};
    const auto line = MUST(parse({"-c", "a.conf"}, environment));
    EXPECT_EQ(line.seat.number, 2);
    EXPECT_EQ(line.seat.count, 3);
    EXPECT_EQ(line.seat.address(), 5);
    EXPECT_EQ(line.seat.address_of(1), 4);
    EXPECT_TRUE(line.seat.is_mate(6) && line.seat.is_mate(4));
    EXPECT_FALSE(line.seat.is_mate(3) || line.seat.is_mate(7));
    EXPECT_TRUE(line.seat.shares_ports_with(2) && line.seat.shares_ports_with(8)) << "the second of other starts";
    EXPECT_FALSE(line.seat.shares_ports_with(5) || line.seat.shares_ports_with(1) || line.seat.shares_ports_with(0));
    EXPECT_EQ(line.workers_secret, "a/b");
    for (const char* text : {"", "2", "2/3", "2/3/2", "2/3/2/", "0/3/3/x", "4/3/4/x", "2/65/2/x", "x/3/2/x", "2/x/2/x",
                             "-1/3/2/x", "2/3/1/x", "2/3/4/x", "2/3/0/x", "2/3/194/x", "2/3/x/x"})
        EXPECT_FALSE(MUST(parse({"-c", "a.conf"}, {{std::string(kWorkerVariable), text}})).seat.is_worker()) << text;
}

TEST(CommandLine, TakesWhatARunningProcessSays) {
    const std::string entry = heir_variable("a/b");
    const std::size_t at = entry.find('=');
    const auto line = MUST(parse({"-c", "a.conf"}, {{entry.substr(0, at), entry.substr(at + 1)}}));
    EXPECT_EQ(line.heir_of, engine::workers::kSpoken);
    EXPECT_EQ(line.workers_secret, "a/b");
    EXPECT_EQ(MUST(parse({"-c", "a.conf"}, {{std::string(kHeirVariable), "7/x"}})).heir_of, 7U) << "of another version";
    for (const char* text : {"", "1", "1/", "0/x", "x/x", "/x", "-1/x"})
        EXPECT_EQ(MUST(parse({"-c", "a.conf"}, {{std::string(kHeirVariable), text}})).heir_of, 0U) << text;
}

}  // namespace
}  // namespace live::app
