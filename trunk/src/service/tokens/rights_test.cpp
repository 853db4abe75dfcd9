#include "service/tokens/rights.hpp"

#include <random>

#include <gtest/gtest.h>

namespace live::service::tokens {
namespace {

bool matches(const std::string& pattern, std::string_view path) { return MUST(PathPattern::parse(pattern)).matches(path); }

TEST(PathPattern, MatchesNamesAndWildcards) {
    EXPECT_TRUE(matches("", "live/cam"));
    EXPECT_TRUE(matches("live/cam", "live/cam"));
    EXPECT_FALSE(matches("live/cam", "live/cam2"));
    EXPECT_FALSE(matches("live/cam", "live/ca"));
    EXPECT_TRUE(matches("live/*", "live/cam"));
    EXPECT_TRUE(matches("live/*", "live/"));
    EXPECT_FALSE(matches("live/*", "live/a/b"));
    EXPECT_FALSE(matches("live/*", "other/live/cam"));
    EXPECT_TRUE(matches("**", "v.example/live/cam"));
    EXPECT_TRUE(matches("*/cam*", "live/cam-1"));
    EXPECT_TRUE(matches("**/cam", "a/b/cam"));
    EXPECT_TRUE(matches("[app]/[stream]", "live/cam"));
    EXPECT_TRUE(matches("[vhost]/[app]/[stream]", "v.example/live/cam"));
    EXPECT_FALSE(matches("[vhost]/[app]/[stream]", "live/cam"));
    EXPECT_TRUE(matches("live/[stream]-hd", "live/cam-hd-hd"));
}

TEST(PathPattern, MatchesRegularExpressions) {
    EXPECT_TRUE(matches("~^live/cam[0-9]+$", "live/cam12"));
    EXPECT_FALSE(matches("~^live/cam[0-9]+$", "live/cam"));
    EXPECT_TRUE(matches("~cam", "live/cam"));
    EXPECT_EQ(PathPattern::parse("~(").code(), Errc::malformed);
    EXPECT_EQ(PathPattern::parse(std::string(PathPattern::kBytesMax + 1, 'a')).code(), Errc::limit);
}

// Tries every length of a wildcard.
bool matches_naively(std::string_view pattern, std::string_view path) {
    if (pattern.empty())
        return path.empty();
    if (pattern.front() != '*')
        return !path.empty() && pattern.front() == path.front() && matches_naively(pattern.substr(1), path.substr(1));
    const bool crosses = pattern.starts_with("**");
    const std::string_view rest = pattern.substr(crosses ? 2 : 1);
    for (std::size_t taken = 0; taken <= path.size(); ++taken) {
        if (matches_naively(rest, path.substr(taken)))
            return true;
        if (taken < path.size() && path[taken] == '/' && !crosses)
            return false;
    }
    return false;
}

TEST(PathPattern, MatchesAsANaiveModelDoes) {
    std::mt19937 random(1);
    const auto text = [&random](std::string_view letters, std::size_t size_max) {
        std::string made(std::uniform_int_distribution<std::size_t>(0, size_max)(random), ' ');
        for (char& letter : made)
            letter = letters[std::uniform_int_distribution<std::size_t>(0, letters.size() - 1)(random)];
        return made;
    };
    int matched = 0;
    for (int round = 0; round < 50'000; ++round) {
        const std::string pattern = text("ab/***", 7);
        const std::string path = text("ab/", 8);
        const bool expected = pattern.empty() || matches_naively(pattern, path);
        ASSERT_EQ(matches(pattern, path), expected) << pattern << " and " << path;
        matched += expected ? 1 : 0;
    }
    EXPECT_GT(matched, 1'000);
}

TEST(Rights, PermitNothingElse) {
    std::vector<Right> rights;
    rights.push_back({Permission::publish, MUST(PathPattern::parse("live/cam"))});
    EXPECT_TRUE(permits(rights, Permission::publish, "live/cam"));
    EXPECT_FALSE(permits(rights, Permission::play, "live/cam"));
    EXPECT_FALSE(permits(rights, Permission::publish, "live/other"));
    EXPECT_FALSE(permits({}, Permission::play, "live/cam"));
}

TEST(Rights, HaveTheNamesOfTwoServers) {
    EXPECT_EQ(parse_permission("publish"), Permission::publish);
    EXPECT_EQ(parse_permission("read"), Permission::play);
    EXPECT_EQ(parse_permission("play"), Permission::play);
    EXPECT_EQ(parse_permission("Publish"), std::nullopt);
    EXPECT_EQ(name_of(Permission::play), "play");
    EXPECT_EQ(name_of(Permission::api_admin), "api.admin");
}

}  // namespace
}  // namespace live::service::tokens
