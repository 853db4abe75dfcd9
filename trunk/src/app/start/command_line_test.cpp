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

TEST(CommandLine, ShowsItsVersionFirst) {
    for (const char* option : {"-v", "-V", "--version", "--v", "-vq"})
        EXPECT_EQ(said({option}), "version") << option;
    for (const char* option : {"-g", "-G"})
        EXPECT_EQ(said({option}), "signature") << option;
    for (const char* option : {"-h", "-?", "--help"})
        EXPECT_EQ(said({option}), "help") << option;
    EXPECT_EQ(said({"-c", "a.conf", "-v", "-q"}), "version");
}

TEST(CommandLine, ShowsHelpWithoutOptions) {
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

TEST(CommandLine, EnvironmentTakesPrecedence) {
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

TEST(Version, TextMatchesTheNumbers) {
    const std::string numbers =
        std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor) + "." + std::to_string(kVersionRevision);
    EXPECT_EQ(kVersion, numbers);
    EXPECT_TRUE(kSignature.starts_with(std::string(kProduct) + "/" + numbers + "("));
}

TEST(CommandLine, ReadsTheVariablesOfTheStartingProcess) {
    const auto line = MUST(parse({"-c", "a.conf"}, {{std::string(supervisor::kWorkerVariable), "2/3/5/a/b"}}));
    EXPECT_EQ(line.started_by.identity.number, 2);
    EXPECT_EQ(line.started_by.secret, "a/b");
    EXPECT_FALSE(MUST(parse({"-c", "a.conf"}, {})).started_by.identity.is_worker());
}

}  // namespace
}  // namespace live::app
