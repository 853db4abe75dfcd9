#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http1/parser.hpp"

namespace live::engine::http1 {
namespace {

struct Outcome {
    int status = 0;
    std::string body;
    std::string rest;
    bool complete = false;
    bool keeps_alive = false;
    std::optional<Errc> failed;

    bool operator==(const Outcome&) const = default;
};

Outcome read_all(std::string_view text, std::size_t portion, bool closes = true) {
    ResponseParser answer;
    Outcome outcome;
    while (!text.empty() && !answer.is_complete()) {
        Bytes part = as_bytes(text.substr(0, portion));
        text.remove_prefix(part.size());
        while (!part.empty() && !answer.is_complete()) {
            const auto piece = answer.read_piece(part);
            if (!piece.ok()) {
                outcome.failed = piece.code();
                return outcome;
            }
            outcome.body += as_text(*piece);
        }
        outcome.rest = as_text(part);
    }
    outcome.rest += text;
    if (closes) {
        if (const auto finished = answer.finish(); !finished.ok())
            outcome.failed = finished.code();
    }
    outcome.complete = answer.is_complete();
    if (const Response* const head = answer.head()) {
        outcome.status = head->status;
        outcome.keeps_alive = head->keep_alive;
    }
    return outcome;
}

struct Vector {
    const char* name;
    std::string text;
    Outcome outcome;
};

const std::vector<Vector>& vectors() {
    static const std::vector<Vector> kVectors = {
        {"with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP", {200, "hello", "HTTP", true, true, {}}},
        {"an empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", {200, "", "", true, true, {}}},
        {"until the end", "HTTP/1.1 200 OK\r\n\r\nhello", {200, "hello", "", true, false, {}}},
        {"in chunks",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n",
         {200, "hello", "", true, true, {}}},
        {"that closes", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", {200, "hi", "", true, false, {}}},
        {"of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", {200, "hi", "", true, false, {}}},
        {"without a body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", {304, "", "", true, true, {}}},
        {"behind an interim one",
         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
         {404, "no", "", true, true, {}}},
        {"that changes the protocol",
         "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x82",
         {101, "", "\x82", true, true, {}}},
        {"line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", {200, "hi", "", true, true, {}}},
    };
    return kVectors;
}

TEST(ResponsePieces, ParsesTheSameResponseFromAnyPortions) {
    for (const Vector& vector : vectors()) {
        for (std::size_t portion = 1; portion <= vector.text.size(); ++portion)
            EXPECT_EQ(read_all(vector.text, portion), vector.outcome) << vector.name << " in portions of " << portion;
    }
}

TEST(ResponsePieces, TruncatedResponseIsNotComplete) {
    for (const Vector& vector : vectors()) {
        if (vector.outcome.rest.empty() && vector.text.find("\r\n\r\nhello") == std::string::npos) {
            for (std::size_t size = 0; size < vector.text.size(); ++size) {
                const auto outcome = read_all(vector.text.substr(0, size), 5);
                EXPECT_EQ(outcome.failed, Errc::closed) << vector.name << " of " << size;
                EXPECT_FALSE(outcome.complete);
            }
        }
    }
}

TEST(ResponsePieces, RefusesMalformedResponses) {
    EXPECT_EQ(read_all("SSH-2.0-OpenSSH\r\n", 100).failed, Errc::malformed);
    EXPECT_EQ(read_all("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 100).failed, Errc::malformed);
    EXPECT_EQ(read_all("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 100).failed, Errc::malformed);
    EXPECT_EQ(read_all("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 100).failed, Errc::malformed);
}

TEST(ResponsePieces, RefusesTooManyFieldsAndInterimResponses) {
    const auto with_fields = [](std::size_t count, std::size_t bytes) {
        std::string text = "HTTP/1.1 200 OK\r\n";
        for (std::size_t i = 0; i < count; ++i)
            text += "X: " + std::string(bytes, 'x') + "\r\n";
        return text + "\r\n";
    };
    constexpr Limits kLimits;
    EXPECT_FALSE(read_all(with_fields(kLimits.header_count, 1), 1000).failed.has_value());
    EXPECT_EQ(read_all(with_fields(kLimits.header_count + 1, 1), 1000).failed, Errc::limit);
    EXPECT_FALSE(read_all(with_fields(4, kLimits.header_bytes / 4 - 1), 1000).failed.has_value());
    EXPECT_EQ(read_all(with_fields(4, kLimits.header_bytes / 4), 1000).failed, Errc::limit);
    std::string interims;
    for (int i = 0; i < 17; ++i)
        interims += "HTTP/1.1 100 Continue\r\n\r\n";
    EXPECT_EQ(read_all(interims, 1000).failed, Errc::limit);
}

TEST(ResponsePieces, BodyIsUnlimitedAndNotCopied) {
    const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
    const std::string text = head + std::string(5'000, 'x');
    ResponseParser parser(ResponseParser::RequestWas::other, Limits{.body_bytes = 10});
    Bytes input = as_bytes(text);
    const auto piece = parser.read_piece(input);
    ASSERT_TRUE(piece.ok());
    EXPECT_EQ(piece->size(), 5'000U);
    EXPECT_EQ(piece->data(), as_bytes(text).data() + head.size());
    EXPECT_TRUE(input.empty());
    EXPECT_TRUE(parser.take_body().empty());
}

}  // namespace
}  // namespace live::engine::http1
