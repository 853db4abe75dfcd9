// Every shipped conf file loads and has an effect; only compatible.conf uses old forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/net/endpoint.hpp"
#include "settings/conf/load.hpp"

namespace live::settings {
namespace {

std::filesystem::path trunk() { return LIVE_TRUNK; }

// Relative to trunk, as for a server started there.
Result<std::string> read_below_trunk(const std::string& path) {
    std::ifstream in(trunk() / path);
    if (!in.good())
        return Error(Errc::not_found, "no such file: " + path);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<LoadedSettings> load_sample(const std::string& name) {
    LoadInput input;
    input.path = "conf/" + name;
    return load_settings(input, read_below_trunk);
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(trunk() / "conf")) {
        const std::string name = entry.path().filename().string();
        // A part of another file, and the reference that is not to be run.
        if (name.ends_with(".conf") && name != "include.vhost.conf" && name != "full.conf")
            all.push_back(name);
    }
    std::sort(all.begin(), all.end());
    return all;
}

TEST(SampleConfs, AllLoad) {
    EXPECT_GE(names().size(), 38U);
    for (const std::string& name : names()) {
        const auto loaded = load_sample(name);
        ASSERT_TRUE(loaded.ok()) << loaded.error().sentence();
        EXPECT_FALSE(loaded->settings.vhosts.empty()) << name;
        for (const std::string& warning : loaded->warnings) {
            const bool expected = warning.find("is not implemented") != std::string::npos || name == "compatible.conf";
            EXPECT_TRUE(expected) << warning;
        }
    }
}

// An API on every address without a password is nobody's intention.
TEST(SampleConfs, NoApiIsOpenToOtherMachines) {
    for (const std::string& name : names()) {
        const HttpApiOptions api = MUST(load_sample(name)).settings.http_api;
        std::vector<std::string> listen = api.listen;
        if (api.https.enabled)
            listen.insert(listen.end(), api.https.listen.begin(), api.https.listen.end());
        for (const std::string& text : listen)
            for (const Endpoint& endpoint : MUST(parse_endpoint(text)))
                EXPECT_TRUE(!api.enabled || api.auth.enabled || endpoint.is_loopback()) << name << ": " << text;
    }
}

TEST(SampleConfs, TheDocumentIsNotStarted) { EXPECT_FALSE(load_sample("full.conf").ok()); }

TEST(SampleConfs, TheDemoPullsItsSampleIn) {
    const LoadedSettings demo = MUST(load_sample("demo.conf"));
    EXPECT_TRUE(demo.warnings.empty());
    EXPECT_FALSE(demo.settings.daemon);
    ASSERT_EQ(demo.settings.vhosts[0].ingests.size(), 1U);
    EXPECT_EQ(demo.settings.vhosts[0].ingests[0].input_url, "./doc/source.flv");
    EXPECT_TRUE(demo.settings.http_api.enabled);
}

TEST(SampleConfs, TheGuidesPairForwards) {
    EXPECT_EQ(MUST(load_sample("forward.master.conf")).settings.vhosts[0].forward.destinations,
              std::vector<std::string>{"127.0.0.1:19350"});
    EXPECT_EQ(MUST(load_sample("forward.slave.conf")).settings.listen, std::vector<std::string>{"19350"});
}

TEST(SampleConfs, IncludeIsRelativeToTheWorkingDirectory) {
    EXPECT_NE(MUST(load_sample("include.conf")).settings.find_vhost("any"), nullptr);
}

TEST(SampleConfs, TheServiceRunsInTheBackgroundAndTheConsoleDoesNot) {
    EXPECT_TRUE(MUST(load_sample("srs.conf")).settings.daemon);
    EXPECT_EQ(MUST(load_sample("srs.conf")).settings.log.tank, LogTank::file);
    EXPECT_FALSE(MUST(load_sample("console.conf")).settings.daemon);
    EXPECT_EQ(MUST(load_sample("console.conf")).settings.log.tank, LogTank::console);
}

}  // namespace
}  // namespace live::settings
