#include "engine/http1/parser.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http1/grammar.hpp"

namespace live::engine::http1 {
namespace {

// Feeds everything in portions and returns the messages, or the first error.
template <class Message, class Parser>
Result<std::vector<Message>> read_all(Parser& parser, std::string_view input, std::size_t portion = SIZE_MAX) {
    std::vector<Message> messages;
    while (!input.empty()) {
        Bytes part = as_bytes(input.substr(0, portion));
        input.remove_prefix(part.size());
        while (!part.empty()) {
            part = part.subspan(TRY(parser.feed(part)));
            if (auto message = parser.next())
                messages.push_back(std::move(*message));
        }
    }
    return messages;
}

Result<std::vector<Request>> requests(std::string_view input, std::size_t portion = SIZE_MAX) {
    RequestParser parser;
    return read_all<Request>(parser, input, portion);
}

struct RequestVector {
    const char* name;
    std::string bytes;
    std::string method;
    std::string target;
    std::string body;
    bool keep_alive;
    bool upgrade = false;
};

const std::vector<RequestVector>& request_vectors() {
    static const std::vector<RequestVector> table = {
        {"plain", "GET /live/cam.flv?x=1 HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/live/cam.flv?x=1", "", true},
        {"closing", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET", "/", "", false},
        {"old version", "GET / HTTP/1.0\r\n\r\n", "GET", "/", "", false},
        {"old version that stays", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET", "/", "", true},
        {"body with a length", "POST /api HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "POST", "/api", "hello", true},
        {"body in chunks",
         "POST /api HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n",
         "POST", "/api", "hello", true},
        {"upgrade", "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "GET", "/ws", "", true,
         true},
        {"delete", "DELETE /api/v1/clients/1 HTTP/1.1\r\nHost: h\r\n\r\n", "DELETE", "/api/v1/clients/1", "", true},
        {"options", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS", "*", "", true},
    };
    return table;
}

TEST(Http1Request, ReadsEveryVectorInEveryPortionSize) {
    for (const RequestVector& vector : request_vectors()) {
        SCOPED_TRACE(vector.name);
        for (std::size_t portion = 1; portion <= vector.bytes.size(); ++portion) {
            const auto read = requests(vector.bytes, portion);
            ASSERT_TRUE(read.ok()) << portion << ": " << read.error().text();
            ASSERT_EQ(read->size(), 1u) << portion;
            const Request& request = read->front();
            EXPECT_EQ(request.method, vector.method);
            EXPECT_EQ(request.target, vector.target);
            EXPECT_EQ(request.body, vector.body);
            EXPECT_EQ(request.keep_alive, vector.keep_alive);
            EXPECT_EQ(request.upgrade, vector.upgrade);
            EXPECT_FALSE(request.headers.find("Trailer").has_value());
        }
    }
}

TEST(Http1Request, ATruncatedRequestIsNoRequest) {
    for (const RequestVector& vector : request_vectors())
        for (std::size_t size = 0; size < vector.bytes.size(); ++size) {
            const auto read = requests(std::string_view(vector.bytes).substr(0, size));
            ASSERT_TRUE(read.ok()) << vector.name << " cut at " << size;
            EXPECT_TRUE(read->empty()) << vector.name << " cut at " << size;
        }
}

TEST(Http1Request, StopsAtTheEndOfEachPipelinedRequest) {
    const std::string two =
        "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhiGET /3 HTTP/1.1\r\n\r\n";
    RequestParser parser;
    EXPECT_EQ(parser.feed(as_bytes(two)).value(), two.find("POST"));
    EXPECT_EQ(parser.next()->target, "/1");
    EXPECT_FALSE(parser.next().has_value());
    for (std::size_t portion = 1; portion <= two.size(); ++portion) {
        const auto read = requests(two, portion);
        ASSERT_TRUE(read.ok()) << portion << ": " << read.error().text();
        ASSERT_EQ(read->size(), 3u) << portion;
        EXPECT_EQ((*read)[1].body, "hi");
        EXPECT_EQ((*read)[2].target, "/3");
    }
}

TEST(Http1Request, LeavesTheBytesBehindAnUpgrade) {
    const std::string handshake = "GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    RequestParser parser;
    EXPECT_EQ(parser.feed(as_bytes(handshake + "\x81\x00")).value(), handshake.size());
    EXPECT_TRUE(parser.next()->upgrade);
}

TEST(Http1Request, KnowsWhenItIsIdle) {
    RequestParser parser;
    EXPECT_TRUE(parser.is_idle());
    EXPECT_TRUE(parser.feed(as_bytes("GET / HT")).ok());
    EXPECT_FALSE(parser.is_idle());
    EXPECT_TRUE(parser.feed(as_bytes("TP/1.1\r\n\r\n")).ok());
    EXPECT_FALSE(parser.is_idle());
    EXPECT_TRUE(parser.next().has_value());
    EXPECT_TRUE(parser.is_idle());
    EXPECT_EQ(parser.feed({}).value(), 0u) << "no bytes are no end";
}

TEST(Http1Request, SaysOnceThatTheClientWaitsForContinue) {
    RequestParser parser;
    EXPECT_TRUE(parser.feed(as_bytes("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")).ok());
    EXPECT_TRUE(parser.take_wants_continue());
    EXPECT_FALSE(parser.take_wants_continue());
    EXPECT_TRUE(parser.feed(as_bytes("x")).ok());
    EXPECT_EQ(parser.next()->body, "x");
    EXPECT_TRUE(parser.feed(as_bytes("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx")).ok());
    EXPECT_FALSE(parser.take_wants_continue()) << "the body is there already";
}

struct Refusal {
    const char* name;
    std::string bytes;
    int status;
};

TEST(Http1Request, RefusesWithTheStatusThatSaysWhy) {
    const Refusal refusals[] = {
        {"no HTTP", "\x16\x03\x01\x02", 400},
        {"RTMP", std::string("\x03\x00\x00\x00", 4), 400},
        {"version 0.9", "GET /\r\n\r\nx", 505},
        {"version 2", "GET / HTTP/2.0\r\n\r\n", 505},
        {"length twice", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"length and chunks", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"bad length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        {"bad chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
        {"space in a name", "GET / HTTP/1.1\r\nA B: c\r\n\r\n", 400},
        {"space behind a name", "POST / HTTP/1.1\r\nContent-Length : 1\r\n\r\nx", 400},
    };
    for (const Refusal& refusal : refusals) {
        RequestParser parser;
        const auto read = read_all<Request>(parser, refusal.bytes);
        ASSERT_FALSE(read.ok()) << refusal.name;
        EXPECT_EQ(parser.error_status(), refusal.status) << refusal.name << ": " << read.error().text();
        EXPECT_FALSE(parser.feed(as_bytes("GET / HTTP/1.1\r\n\r\n")).ok())
            << refusal.name << ": a broken connection stays broken";
    }
}

TEST(Http1Request, BoundsTargetHeadersAndBody) {
    const Limits limits{.target_bytes = 8, .header_count = 2, .header_bytes = 12, .body_bytes = 4};
    const auto status = [&limits](const std::string& input) {
        RequestParser parser(limits);
        const auto read = read_all<Request>(parser, input);
        if (!read.ok()) {
            EXPECT_EQ(read.code(), Errc::limit) << input;
        }
        return read.ok() ? 200 : parser.error_status();
    };
    EXPECT_EQ(status("GET /1234567 HTTP/1.1\r\n\r\n"), 200);
    EXPECT_EQ(status("GET /12345678 HTTP/1.1\r\n\r\n"), 414);
    EXPECT_EQ(status("GET / HTTP/1.1\r\na: b\r\nc: d\r\n\r\n"), 200);
    EXPECT_EQ(status("GET / HTTP/1.1\r\na: b\r\nc: d\r\ne: f\r\n\r\n"), 431);
    EXPECT_EQ(status("GET / HTTP/1.1\r\nname: 12345678\r\n\r\n"), 200);
    EXPECT_EQ(status("GET / HTTP/1.1\r\nname: 123456789\r\n\r\n"), 431);
    EXPECT_EQ(status("GET / HTTP/1.1\r\n1234567890123: \r\n\r\n"), 431);
    const Limits body_limits{.target_bytes = 8, .header_count = 2, .header_bytes = 100, .body_bytes = 4};
    const auto body_status = [&body_limits](const std::string& input) {
        RequestParser parser(body_limits);
        return read_all<Request>(parser, input).ok() ? 200 : parser.error_status();
    };
    EXPECT_EQ(body_status("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n1234"), 200);
    EXPECT_EQ(body_status("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), 413) << "before the body arrives";
    EXPECT_EQ(body_status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n0\r\n\r\n"), 200);
    EXPECT_EQ(body_status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n1\r\n5\r\n0\r\n\r\n"), 413);
}

TEST(Http1Request, GivesStreamedBodiesPieceByPiece) {
    const auto streams = [](const Request& head) { return head.method == "POST" && head.target.ends_with(".flv"); };
    RequestParser parser({.body_bytes = 8}, streams);
    EXPECT_TRUE(
        parser.feed(as_bytes("POST /live/cam.flv HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n")).ok());
    EXPECT_EQ(parser.streamed(), nullptr);
    EXPECT_TRUE(parser.feed(as_bytes("\r\n")).ok());
    ASSERT_NE(parser.streamed(), nullptr);
    EXPECT_EQ(parser.streamed()->target, "/live/cam.flv");
    EXPECT_TRUE(parser.streamed()->headers.has_token("Transfer-Encoding", "chunked"));
    EXPECT_TRUE(parser.take_wants_continue());
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(parser.feed(as_bytes("8\r\n12345678\r\n")).ok());
        EXPECT_EQ(parser.take_body(), "12345678");
        EXPECT_FALSE(parser.next().has_value());
    }
    EXPECT_TRUE(parser.feed(as_bytes("1\r\n9\r\n0\r\n\r\n")).ok());
    EXPECT_NE(parser.streamed(), nullptr) << "until the request is taken";
    const auto request = parser.next();
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->body, "9");
    EXPECT_EQ(request->target, "/live/cam.flv");
    EXPECT_EQ(parser.streamed(), nullptr);
    EXPECT_TRUE(parser.feed(as_bytes("POST /live/cam.flv HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n")).ok());
    EXPECT_EQ(parser.feed(as_bytes("1\r\n9\r\n")).code(), Errc::limit) << "nobody took the first eight";
    EXPECT_EQ(parser.error_status(), 413);
}

TEST(Http1Request, AStreamedBodyMayBeOfAnyLength) {
    RequestParser parser({.body_bytes = 8}, [](const Request& head) { return head.target == "/stream"; });
    EXPECT_TRUE(parser.feed(as_bytes("POST /stream HTTP/1.1\r\nContent-Length: 9223372036854775807\r\n\r\n1234567")).ok());
    ASSERT_NE(parser.streamed(), nullptr);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(parser.take_body(), "1234567");
        EXPECT_TRUE(parser.feed(as_bytes("1234567")).ok());
    }
    EXPECT_FALSE(parser.next().has_value());
}

TEST(Http1Request, OnlyRequestsWithABodyAreStreamed) {
    RequestParser parser({.body_bytes = 8}, [](const Request& head) { return head.target == "/stream"; });
    EXPECT_TRUE(parser.feed(as_bytes("POST /stream HTTP/1.1\r\nContent-Length: 0\r\n\r\n")).ok());
    EXPECT_EQ(parser.streamed(), nullptr);
    EXPECT_EQ(parser.next()->target, "/stream");
    EXPECT_TRUE(parser.feed(as_bytes("POST /whole HTTP/1.1\r\nContent-Length: 8\r\n\r\n1234567")).ok());
    EXPECT_EQ(parser.streamed(), nullptr);
    EXPECT_TRUE(parser.feed(as_bytes("8")).ok());
    EXPECT_EQ(parser.next()->body, "12345678");
    EXPECT_EQ(parser.feed(as_bytes("POST /whole HTTP/1.1\r\nContent-Length: 9\r\n\r\n")).code(), Errc::limit);
}

Result<std::vector<Response>> responses(std::string_view input, std::size_t portion = SIZE_MAX) {
    ResponseParser parser;
    return read_all<Response>(parser, input, portion);
}

TEST(Http1Response, ReadsBodiesOfEveryKind) {
    const std::string inputs[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5  \r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
    };
    for (const std::string& input : inputs)
        for (std::size_t portion = 1; portion <= input.size(); ++portion) {
            const auto read = responses(input, portion);
            ASSERT_TRUE(read.ok()) << portion << ": " << read.error().text();
            ASSERT_EQ(read->size(), 1u) << input;
            EXPECT_EQ(read->front().status, 200);
            EXPECT_EQ(read->front().reason, "OK");
            EXPECT_EQ(read->front().body, "hello");
        }
}

TEST(Http1Response, TakesWhatServersReallySend) {
    const auto read = responses(
        "HTTP/1.1 200\r\nX-Folded: a\r\n  b\r\n\tc\r\nContent-Length: 0\r\n\r\n"
        "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nHTTP/1.0 404 \r\nContent-Length: "
        "0\r\n\r\n");
    ASSERT_TRUE(read.ok()) << read.error().text();
    ASSERT_EQ(read->size(), 4u);
    EXPECT_EQ((*read)[0].reason, "");
    EXPECT_EQ((*read)[0].headers.find("X-Folded"), "a b c");
    EXPECT_TRUE((*read)[0].keep_alive);
    EXPECT_EQ((*read)[2].status, 304);
    EXPECT_FALSE((*read)[3].keep_alive);
}

TEST(Http1Response, BoundsTheAnswersBeforeTheAnswer) {
    std::string many;
    for (std::size_t i = 0; i < kInterimMax; ++i)
        many += "HTTP/1.1 102 Processing\r\n\r\n";
    const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    EXPECT_EQ(MUST(responses(many + last)).size(), 1u);
    EXPECT_EQ(MUST(responses(many + last + many + last)).size(), 2u);
    EXPECT_EQ(responses(many + many + last).code(), Errc::limit);
}

TEST(Http1Response, ABodyWithoutLengthEndsWithTheConnection) {
    ResponseParser parser;
    EXPECT_TRUE(parser.feed(as_bytes("HTTP/1.1 200 OK\r\n\r\nhello")).ok());
    EXPECT_FALSE(parser.next().has_value());
    EXPECT_TRUE(parser.finish().ok());
    const auto response = parser.next();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->body, "hello");
    EXPECT_FALSE(response->keep_alive);
}

TEST(Http1Response, AnEarlyCloseIsAnError) {
    ResponseParser nothing;
    EXPECT_EQ(nothing.finish().code(), Errc::closed);
    ResponseParser half;
    EXPECT_TRUE(half.feed(as_bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")).ok());
    EXPECT_EQ(half.finish().code(), Errc::closed);
}

TEST(Http1Response, AnAnswerToHeadHasNoBody) {
    ResponseParser parser(ResponseParser::RequestWas::head);
    const auto read = read_all<Response>(
        parser, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n");
    ASSERT_TRUE(read.ok()) << read.error().text();
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[1].status, 404);
}

TEST(Http1Response, GivesEndlessBodiesPieceByPiece) {
    ResponseParser parser(ResponseParser::RequestWas::other, {.body_bytes = 8});
    EXPECT_EQ(parser.head(), nullptr);
    EXPECT_TRUE(
        parser
            .feed(as_bytes("HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n"))
            .ok());
    ASSERT_NE(parser.head(), nullptr);
    EXPECT_EQ(parser.head()->headers.find("content-type"), "video/x-flv");
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(parser.take_body(), "12345678");
        EXPECT_TRUE(parser.feed(as_bytes("8\r\n12345678\r\n")).ok());
    }
    EXPECT_EQ(parser.feed(as_bytes("1\r\n9\r\n")).code(), Errc::limit) << "nobody took the last eight";
}

TEST(Http1Response, SwitchingProtocolsIsAFinalAnswer) {
    const std::string head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    ResponseParser parser;
    EXPECT_EQ(parser.feed(as_bytes(head + "\x81")).value(), head.size());
    EXPECT_EQ(parser.next()->status, 101);
}

TEST(Http1Response, RefusesWhatIsNoAnswer) {
    EXPECT_EQ(responses("GET / HTTP/1.1\r\n\r\n").code(), Errc::malformed);
    EXPECT_EQ(responses("HTTP/2.0 200 OK\r\n\r\n").code(), Errc::unsupported);
    for (const char* head :
         {"HTTP/1.1 2000 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1  200 OK", "HTTP/1.1 099 OK", "HTTP/1.1", "HTTP/1.1 ",
          "200 OK", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
          "HTTP/1.1 200 OK\r\n X: folded on nothing"})
        EXPECT_EQ(responses(std::string(head) + "\r\n\r\n").code(), Errc::malformed) << head;
}

TEST(Http1Headers, CompareNamesWithoutCase) {
    Headers headers;
    headers.add("Content-Type", "text/html");
    headers.add("connection", "keep-alive,  Upgrade");
    EXPECT_EQ(headers.find("content-TYPE"), "text/html");
    EXPECT_FALSE(headers.find("Content-Typ").has_value());
    EXPECT_TRUE(headers.has_token("Connection", "upgrade"));
    EXPECT_TRUE(headers.has_token("Connection", "Keep-Alive"));
    EXPECT_FALSE(headers.has_token("Connection", "up"));
    EXPECT_FALSE(headers.has_token("Missing", "x"));
}

TEST(Http1Request, StreamedBodiesAreTheSameInEveryPortionSize) {
    for (const RequestVector& vector : request_vectors()) {
        SCOPED_TRACE(vector.name);
        for (std::size_t portion = 1; portion <= vector.bytes.size(); ++portion) {
            RequestParser parser({}, [](const Request&) { return true; });
            std::string body;
            std::optional<Request> request;
            for (std::string_view input = vector.bytes; !input.empty();) {
                const Bytes part = as_bytes(input.substr(0, portion));
                const auto used = parser.feed(part);
                ASSERT_TRUE(used.ok()) << used.error().text();
                input.remove_prefix(*used);
                body += parser.take_body();
                if (auto next = parser.next())
                    request = std::move(next);
            }
            ASSERT_TRUE(request) << portion;
            EXPECT_EQ(request->target, vector.target);
            EXPECT_EQ(body + request->body, vector.body);
        }
    }
}

TEST(Http1Request, TellsTheVersion) {
    EXPECT_EQ(MUST(requests("GET / HTTP/1.0\r\n\r\n")).front().minor_version, 0);
    EXPECT_EQ(MUST(requests("GET / HTTP/1.1\r\nHost: h\r\n\r\n")).front().minor_version, 1);
}

}  // namespace
}  // namespace live::engine::http1
