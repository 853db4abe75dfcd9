#include "engine/websocket/handshake.hpp"

#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"

namespace live::engine::websocket {
namespace {

http1::Request request_of(const std::string& text) {
    http1::RequestParser parser;
    EXPECT_TRUE(parser.feed(as_bytes(text)).ok());
    auto request = parser.next();
    EXPECT_TRUE(request.has_value());
    return request.value_or(http1::Request());
}

// The example of RFC 6455, 1.3.
const std::string kExample =
    "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\n"
    "Sec-WebSocket-Protocol: chat, superchat\r\nSec-WebSocket-Version: 13\r\n\r\n";

std::string with(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(WebSocketHandshake, AnswersTheExampleOfTheText) {
    EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ==").value(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const auto request = request_of(kExample);
    EXPECT_TRUE(asks_for_websocket(request));
    const auto accept = accept_value(request);
    ASSERT_TRUE(accept.ok()) << accept.error().text();
    http1::ResponseBuilder answer(101, http1::ResponseBuilder::Connection::upgrade);
    for (const auto& [name, value] : answer_fields(*accept))
        answer.header(name, value);
    EXPECT_EQ(answer.without_body(),
              "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
}

TEST(WebSocketHandshake, AcceptsBrowserRequests) {
    const auto firefox = with(with(kExample, "Connection: Upgrade", "connection: keep-alive, upgrade"), "Upgrade: websocket",
                              "upgrade: WebSocket");
    EXPECT_TRUE(accept_value(request_of(firefox)).ok());
    EXPECT_FALSE(asks_for_websocket(request_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
    EXPECT_FALSE(asks_for_websocket(request_of(with(kExample, "Upgrade: websocket", "Upgrade: h2c"))));
}

TEST(WebSocketHandshake, RefusesRequestsThatTheStandardForbids) {
    struct HandshakeCase {
        const char* name;
        std::string text;
        Errc code;
    };
    const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const HandshakeCase cases[] = {
        {"another method", with(with(kExample, "GET", "POST"), "Host", "Content-Length: 0\r\nHost"), Errc::malformed},
        {"an old HTTP", with(kExample, "HTTP/1.1", "HTTP/1.0"), Errc::malformed},
        {"no host", with(kExample, "Host: ", "X-Host: "), Errc::malformed},
        {"no upgrade", with(kExample, "Upgrade: websocket", "Upgrade: h2c"), Errc::malformed},
        {"no connection", with(kExample, "Connection: Upgrade", "Connection: keep-alive"), Errc::malformed},
        {"no version", with(kExample, "Sec-WebSocket-Version: 13\r\n", ""), Errc::unsupported},
        {"version 8", with(kExample, "Version: 13", "Version: 8"), Errc::unsupported},
        {"two versions", with(kExample, "Version: 13", "Version: 13\r\nSec-WebSocket-Version: 13"), Errc::unsupported},
        {"no key", with(kExample, key, ""), Errc::malformed},
        {"two keys", with(kExample, key, key + key), Errc::malformed},
        {"short key", with(kExample, "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j"), Errc::malformed},
        {"long key", with(kExample, "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZTEyMw=="), Errc::malformed},
        {"no base64", with(kExample, "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhb*BsZSBub25jZQ=="), Errc::malformed},
        {"empty key", with(kExample, "dGhlIHNhbXBsZSBub25jZQ==", ""), Errc::malformed},
    };
    for (const HandshakeCase& wanted : cases)
        EXPECT_EQ(accept_value(request_of(wanted.text)).code(), wanted.code) << wanted.name;
}

}  // namespace
}  // namespace live::engine::websocket
