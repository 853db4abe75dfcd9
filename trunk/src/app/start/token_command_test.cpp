#include "app/start/token_command.hpp"

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "service/tokens/key_file.hpp"

namespace live::app {
namespace {

using namespace std::chrono_literals;
using service::tokens::Permission;

Result<TokenCommand> parse_token(std::vector<std::string_view> arguments) { return parse_token_command(arguments, {}); }

TEST(TokenCommand, ReadsRightsAndLifetime) {
    const auto command = MUST(parse_token(
        {"-c", "conf/access.conf", "--publish", "live/cam", "--play", "live/*", "--expires", "5s", "--subject", "x"}));
    EXPECT_EQ(command.conf.conf_file, "conf/access.conf");
    ASSERT_EQ(command.rights.size(), 2U);
    EXPECT_EQ(command.rights[0].permission, Permission::publish);
    EXPECT_EQ(command.rights[1].paths.text(), "live/*");
    EXPECT_EQ(command.lifetime, 5s);
    EXPECT_EQ(MUST(parse_token({"-c", "a", "--play", "x"})).lifetime, 1h);
    EXPECT_EQ(MUST(parse_token({"-c", "a", "--playback", "live/*"})).rights[0].permission, Permission::playback);
    EXPECT_EQ(MUST(parse_token({"-c", "a", "--play", "x", "--never-expires"})).lifetime, std::nullopt);
}

TEST(TokenCommand, SaysWhatIsMissing) {
    EXPECT_NE(parse_token({"-c", "a"}).error().sentence().find("--publish"), std::string::npos);
    EXPECT_NE(parse_token({"--play", "live/cam"}).error().sentence().find("-c FILE"), std::string::npos);
    EXPECT_NE(parse_token({"-c"}).error().sentence().find("nothing after -c"), std::string::npos);
    EXPECT_NE(parse_token({"-c", "a", "--forever"}).error().sentence().find("--forever"), std::string::npos);
    EXPECT_EQ(parse_token({"-c", "a", "--play", "~("}).code(), Errc::malformed);
}

TEST(TokenCommand, ReadsLifetimes) {
    EXPECT_EQ(MUST(parse_lifetime("90")), 90s);
    EXPECT_EQ(MUST(parse_lifetime("10m")), 10min);
    EXPECT_EQ(MUST(parse_lifetime("7d")), 168h);
    EXPECT_EQ(MUST(parse_lifetime("-5s")), -5s);
    for (const std::string_view text : {"", "s", "5 s", "5x", "99999999999d", "1h30m"})
        EXPECT_EQ(parse_lifetime(text).code(), Errc::malformed) << text;
}

TEST(TokenCommand, SignsWithTheFirstKeyThatCan) {
    const ScratchFolder folder;
    folder.write(
        "public.pem",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n");
    settings::Settings settings;
    settings.vhosts.emplace_back().name = settings::kDefaultVhost;
    auto& access = settings.vhosts.front().access;
    const auto command = MUST(parse_token({"-c", "a", "--play", "live/cam"}));
    const service::tokens::UnixSeconds now{1'800'000'000s};
    EXPECT_EQ(make_token(command, settings, now).code(), Errc::unsupported) << "access is off";
    access.enabled = true;
    access.key_files = {folder.file("public.pem")};
    EXPECT_EQ(make_token(command, settings, now).code(), Errc::unsupported);
    access.key_files.push_back(folder.file("new.key"));
    const std::string token = MUST(make_token(command, settings, now));
    const std::vector keys = {MUST(service::tokens::read_key(folder.file("new.key")))};
    const auto verified = MUST(service::tokens::verify_jwt(token, keys, {}, now));
    EXPECT_TRUE(service::tokens::permits(verified.rights, Permission::play, "live/cam"));
    EXPECT_EQ(verified.expires, now + 1h);
    auto other = command;
    other.vhost = "v.example";
    EXPECT_EQ(make_token(other, settings, now).code(), Errc::not_found);
}

}  // namespace
}  // namespace live::app
