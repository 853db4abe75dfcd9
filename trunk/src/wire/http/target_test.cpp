#include "wire/http/target.hpp"

#include <gtest/gtest.h>

namespace live::wire::http {
namespace {

TEST(HttpTarget, TakesPathAndQueryApart) {
    const auto target = parse_target("/api/v1/streams/?start=0&count=10");
    ASSERT_TRUE(target.ok()) << target.error().text();
    EXPECT_EQ(target->path, "/api/v1/streams/");
    EXPECT_EQ(target->raw_query, "start=0&count=10");
    EXPECT_EQ(target->query.find("count"), "10");
    EXPECT_FALSE(target->query.find("missing").has_value());
    EXPECT_EQ(target->query.get("missing", "7"), "7");
}

TEST(HttpTarget, DecodesThePath) {
    EXPECT_EQ(parse_target("/live/a%20b.flv")->path, "/live/a b.flv");
    EXPECT_EQ(parse_target("/live/a+b.flv")->path, "/live/a+b.flv") << "a plus is a space only in queries";
    EXPECT_EQ(parse_target("/%e4%BD%a0")->path, "/\xe4\xbd\xa0");
    EXPECT_EQ(parse_target("/a%2Fb")->path, "/a/b");
}

TEST(HttpTarget, TakesEveryFormAServerMust) {
    EXPECT_EQ(parse_target("/")->path, "/");
    EXPECT_EQ(parse_target("*")->path, "*");
    EXPECT_EQ(parse_target("http://host:8080/live/cam.flv?x=1")->path, "/live/cam.flv");
    EXPECT_EQ(parse_target("http://host")->path, "/");
    EXPECT_EQ(parse_target("http://host?x=1")->query.find("x"), "1");
    EXPECT_EQ(parse_target("/x#part")->path, "/x");
}

TEST(HttpTarget, AFileHasOnePath) {
    const std::pair<const char*, const char*> cases[] = {
        {"//", "/"},
        {"/.", "/"},
        {"/./", "/"},
        {"//live//cam.m3u8", "/live/cam.m3u8"},
        {"/live/./cam.m3u8", "/live/cam.m3u8"},
        {"/live/%2e/cam.m3u8", "/live/cam.m3u8"},
        {"/live%2F%2Fcam.m3u8", "/live/cam.m3u8"},
        {"/live/.//./cam/", "/live/cam/"},
        {"/live/cam/.", "/live/cam/"},
        {"/live/.cam/a.", "/live/.cam/a."},
        {"//host/x", "/host/x"},
    };
    for (const auto& [text, path] : cases)
        EXPECT_EQ(parse_target(text)->path, path) << text;
}

TEST(HttpTarget, RefusesInvalidTargets) {
    for (const char* text : {"", "live", "host:443", "?x=1", "/%", "/%2", "/%zz", "/a%2"})
        EXPECT_EQ(parse_target(text).code(), Errc::malformed) << text;
}

TEST(HttpTarget, DoesNotClimb) {
    for (const char* text :
         {"/..", "/../etc/passwd", "/a/../b", "/a/%2e%2e/b", "/a/..", "/a%2f..%2fb", "/..%2f", "/a\\b", "/a%5cb", "/a%00b",
          "/%2e./b", "/.%2E/b", "/%2e%2e%2fetc", "/a/..?x", "http://host/../b", "/a%0d%0ab", "/a%7f", "/%1b[0m"})
        EXPECT_EQ(parse_target(text).code(), Errc::denied) << text;
    for (const char* text : {"/...", "/a..b", "/..a/b", "/a?x=../..", "/%252e%252e/b", "/a/./b", "/a?x=%00"})
        EXPECT_TRUE(parse_target(text).ok()) << text;
}

TEST(HttpQuery, DecodesNamesAndValues) {
    const auto query = Query::parse("a=1&b=x+y%21&c&=d&%61b=%&e==&&f=%2");
    ASSERT_TRUE(query.ok());
    const std::vector<Query::Parameter> wanted = {{"a", "1"},  {"b", "x y!"}, {"c", ""},  {"", "d"},
                                                  {"ab", "%"}, {"e", "="},    {"f", "%2"}};
    EXPECT_EQ(query->parameters(), wanted);
}

TEST(HttpQuery, GivesTheFirstOfTwo) { EXPECT_EQ(Query::parse("a=1&a=2")->find("a"), "1"); }

TEST(HttpQuery, BoundsTheParameters) {
    std::string text = "a";
    for (std::size_t i = 1; i < Query::kParametersMax; ++i)
        text += "&a";
    EXPECT_EQ(Query::parse(text)->parameters().size(), Query::kParametersMax);
    EXPECT_EQ(Query::parse(text + "&a").code(), Errc::limit);
    EXPECT_EQ(parse_target("/?" + text + "&a").code(), Errc::limit);
}

TEST(PercentEncoding, RoundTrips) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        every += static_cast<char>(byte);
    EXPECT_EQ(percent_decode(percent_encode(every)).value(), every);
    EXPECT_EQ(percent_encode("a b/c~"), "a%20b%2Fc~");
    EXPECT_EQ(percent_encode_path("/a b//c?/"), "/a%20b//c%3F/");
    EXPECT_EQ(percent_decode("%41%zz").code(), Errc::malformed);
}

}  // namespace
}  // namespace live::wire::http
