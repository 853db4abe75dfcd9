#include "engine/http1/writer.hpp"

#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"

namespace live::engine::http1 {
namespace {

Response parsed(std::string_view text) {
    ResponseParser parser;
    EXPECT_EQ(parser.feed(as_bytes(text)).value(), text.size());
    const auto finished = parser.finish();
    EXPECT_TRUE(finished.ok());
    return parser.next().value();
}

TEST(Http1Writer, WritesABodyWithItsLength) {
    const std::string text =
        ResponseBuilder(200, ResponseBuilder::Connection::keep_alive).header("Server", "live").with_body("text/plain", "hello");
    EXPECT_EQ(text,
              "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nServer: live\r\nContent-Type: text/plain\r\nContent-Length: "
              "5\r\n\r\nhello");
    const Response response = parsed(text);
    EXPECT_EQ(response.body, "hello");
    EXPECT_TRUE(response.keep_alive);
}

TEST(Http1Writer, WritesChunks) {
    std::string text = ResponseBuilder(200).header("Transfer-Encoding", "chunked").without_body();
    const std::string large(300, 'x');
    text.append("3\r\nFLV\r\n12c\r\n").append(large).append("\r\n").append(kLastChunk);
    const Response response = parsed(text);
    EXPECT_EQ(response.body, "FLV" + large);
    EXPECT_EQ(response.headers.find("Transfer-Encoding"), "chunked");
}

TEST(Http1Writer, WritesBodiesThatEndWithTheConnection) {
    const Response response = parsed(ResponseBuilder(200).header("Content-Type", "video/x-flv").without_body() + "FLV");
    EXPECT_EQ(response.body, "FLV");
    EXPECT_FALSE(response.keep_alive);
}

TEST(Http1Writer, WritesAnswersWithoutBody) { EXPECT_EQ(parsed(ResponseBuilder(204).without_body()).status, 204); }

TEST(Http1Writer, NobodyCanSmuggleAHeaderIn) {
    const std::string text = ResponseBuilder(302).header("Location", "/x\r\nSet-Cookie: a=b").without_body();
    const Response response = parsed(text);
    EXPECT_FALSE(response.headers.find("Set-Cookie").has_value());
    EXPECT_EQ(response.headers.find("Location"), "/x  Set-Cookie: a=b");
    EXPECT_EQ(write_request("GET", "/a\r\nX: y", "h\r\nZ: w", {}, "").find("\r\nX"), std::string::npos);
}

TEST(Http1Writer, WritesRequestsTheParserReads) {
    Headers headers;
    headers.add("Content-Type", "application/json");
    const std::string text = write_request("POST", "/hook?x=1", "h:8085", headers, "{}", ResponseBuilder::Connection::keep_alive);
    RequestParser parser;
    EXPECT_EQ(parser.feed(as_bytes(text)).value(), text.size());
    const auto request = parser.next();
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->method, "POST");
    EXPECT_EQ(request->target, "/hook?x=1");
    EXPECT_EQ(request->headers.find("host"), "h:8085");
    EXPECT_EQ(request->body, "{}");
    EXPECT_TRUE(request->keep_alive);
    EXPECT_EQ(write_request("GET", "/", "h", {}, "").find("Content-Length"), std::string::npos);
}

TEST(Http1Writer, NamesTheStatusesItSends) {
    for (const int status : {200, 206, 304, 400, 401, 403, 404, 405, 413, 414, 429, 431, 500, 503, 505})
        EXPECT_NE(reason_of(status), "Status") << status;
    EXPECT_EQ(reason_of(299), "Status");
}

}  // namespace
}  // namespace live::engine::http1
