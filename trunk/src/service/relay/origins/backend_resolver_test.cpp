#include "service/relay/origins/backend_resolver.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

TEST(BackendRequest, NamesStream) {
    EXPECT_EQ(backend_question("vid-1", "/live/cam"),
              R"({"server_id":"vid-1","action":"on_origin","vhost":"__defaultVhost__","app":"live","stream":"cam",)"
              R"("stream_url":"/live/cam"})");
    EXPECT_NE(backend_question("", "a.example/live/x/cam").find(R"("vhost":"a.example","app":"live/x","stream":"cam")"),
              std::string::npos);
    for (const char* odd : {"", "/", "x", "//", "\xFF/\xFE"})
        EXPECT_FALSE(backend_question("", odd).empty());
}

TEST(BackendAnswer, IsListOfOrigins) {
    const auto read = [](const std::string& urls) {
        return parse_backend_answer(200, R"({"code":0,"data":{"urls":)" + urls + "}}", PullProtocol::flv);
    };
    const auto origins = MUST(read(R"(["rtmp://a:19350","b:8080","https://c","nonsense://x"])"));
    ASSERT_EQ(origins.size(), 3U);
    EXPECT_EQ(origins[0].text() + " " + origins[1].text() + " " + origins[2].text(),
              "rtmp://a:19350 http://b:8080 https://c:443");
    EXPECT_TRUE(MUST(read("[]")).empty());
    std::string many = "[\"h\"";
    for (std::size_t i = 0; i < 2 * kBackendOriginsMax; ++i)
        many += ",\"h\"";
    EXPECT_EQ(MUST(read(many + "]")).size(), kBackendOriginsMax);
    for (const char* wrong : {"", "null", "{}", "[1]", R"(["x y"])", R"(["dns:h"])", "[\"h\""})
        EXPECT_EQ(read(wrong).code(), Errc::malformed) << wrong;
    for (const char* wrong : {"", "0", "[]", R"({"code":1,"data":{"urls":[]}})", R"({"code":0})", R"({"code":0,"data":[]})"})
        EXPECT_EQ(parse_backend_answer(200, wrong, PullProtocol::rtmp).code(), Errc::malformed) << wrong;
    EXPECT_EQ(parse_backend_answer(500, R"({"code":0,"data":{"urls":[]}})", PullProtocol::rtmp).code(), Errc::malformed);
}

}  // namespace
}  // namespace live::service::relay
