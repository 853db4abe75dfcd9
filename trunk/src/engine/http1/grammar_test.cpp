#include "engine/http1/grammar.hpp"

#include <gtest/gtest.h>

namespace live::engine::http1 {
namespace {

TEST(Http1Grammar, ReadsRequestLines) {
    const auto line = parse_request_line("GET /live/cam.flv?x=1 HTTP/1.0");
    ASSERT_TRUE(line.ok());
    EXPECT_EQ(line->method, "GET");
    EXPECT_EQ(line->target, "/live/cam.flv?x=1");
    EXPECT_EQ(line->version.minor, 0);
    EXPECT_EQ(parse_request_line("GET /").code(), Errc::unsupported);
    EXPECT_EQ(parse_request_line("GET / HTTP/3.0").code(), Errc::unsupported);
    EXPECT_TRUE(parse_request_line(std::string(kMethodBytesMax, 'M') + " / HTTP/1.1").ok());
    EXPECT_EQ(parse_request_line(std::string(kMethodBytesMax + 1, 'M') + " / HTTP/1.1").code(), Errc::malformed);
}

TEST(Http1Grammar, EveryTruncationOfARequestLineIsRefused) {
    const std::string_view line = "POST /a HTTP/1.1";
    for (std::size_t size = 0; size < line.size(); ++size)
        EXPECT_FALSE(parse_request_line(line.substr(0, size)).ok()) << line.substr(0, size);
}

TEST(Http1Grammar, ReadsStatusLines) {
    const auto line = parse_status_line("HTTP/1.1 404 Not Found");
    ASSERT_TRUE(line.ok());
    EXPECT_EQ(line->status, 404);
    EXPECT_EQ(line->reason, "Not Found");
    EXPECT_EQ(parse_status_line("HTTP/1.1 200")->status, 200);
    const std::string_view cut = "HTTP/1.1 200";
    for (std::size_t size = 0; size < cut.size(); ++size)
        EXPECT_FALSE(parse_status_line(cut.substr(0, size)).ok()) << cut.substr(0, size);
}

TEST(Http1Grammar, ReadsFields) {
    EXPECT_EQ(*parse_field("Name: value"), (Headers::Field{"Name", "value"}));
    EXPECT_EQ(*parse_field("name:\t a b \t"), (Headers::Field{"name", "a b"}));
    EXPECT_EQ(*parse_field("name:"), (Headers::Field{"name", ""}));
    EXPECT_EQ(*parse_field("a:b:c"), (Headers::Field{"a", "b:c"}));
    for (const char* line :
         {"", ":", ": x", "name", "na me: x", "name : x", " name: x", "\tx", "na\xC3\xA4me: x", "n(: x", "n@: x"})
        EXPECT_EQ(parse_field(line).code(), Errc::malformed) << line;
}

TEST(Http1Grammar, ReadsLengths) {
    EXPECT_EQ(*parse_content_length("0"), 0u);
    EXPECT_EQ(*parse_content_length("00042"), 42u);
    EXPECT_EQ(*parse_content_length("18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(parse_content_length("18446744073709551616").code(), Errc::limit);
    for (const char* value : {"", "-1", "+1", "1,1", "0x1", " 1", "1 ", "a"})
        EXPECT_EQ(parse_content_length(value).code(), Errc::malformed) << value;
}

TEST(Http1Grammar, ReadsChunkSizes) {
    EXPECT_EQ(*parse_chunk_size("0"), 0u);
    EXPECT_EQ(*parse_chunk_size("1aF"), 0x1AFu);
    EXPECT_EQ(*parse_chunk_size("5;name=value"), 5u);
    EXPECT_EQ(*parse_chunk_size("ffffffffffffffff"), UINT64_MAX);
    for (const char* line : {"", ";", "-1", "+1", "0x1", " 1", "1 ", "1 ;x", "g", "1g", "10000000000000000", "00000000000000001"})
        EXPECT_EQ(parse_chunk_size(line).code(), Errc::malformed) << line;
}

}  // namespace
}  // namespace live::engine::http1
