// Requests that two chained servers could interpret differently, and requests meant to exhaust resources (RFC 9112, 11.2).
#include <gtest/gtest.h>

#include "engine/http1/grammar.hpp"
#include "engine/http1/parser.hpp"

namespace live::engine::http1 {
namespace {

using namespace std::string_literals;

struct Hostile {
    const char* name;
    std::string bytes;
};

// The status the parser refuses with, or 200 if it accepts.
int status_of(std::string_view input, std::size_t portion, const Limits& limits = {}) {
    RequestParser parser(limits);
    while (!input.empty()) {
        Bytes part = as_bytes(input.substr(0, portion));
        input.remove_prefix(part.size());
        while (!part.empty()) {
            const auto used = parser.feed(part);
            if (!used.ok())
                return parser.error_status();
            part = part.subspan(*used);
            static_cast<void>(parser.next());
        }
    }
    return 200;
}

std::string post(const std::string& rest) { return "POST / HTTP/1.1\r\nHost: h\r\n" + rest; }
std::string chunked(const std::string& body) { return post("Transfer-Encoding: chunked\r\n\r\n" + body); }
std::string get(const std::string& rest) { return "GET / HTTP/1.1\r\nHost: h\r\n" + rest + "\r\n\r\n"; }

const std::vector<Hostile>& where_does_the_body_end() {
    static const std::vector<Hostile> table = {
        {"length and chunks", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
        {"chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n")},
        {"two lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx")},
        {"the same length twice", post("Content-Length: 1\r\nContent-Length: 1\r\n\r\nx")},
        {"a list of lengths", post("Content-Length: 1, 1\r\n\r\nx")},
        {"a length with a sign", post("Content-Length: +1\r\n\r\nx")},
        {"a negative length", post("Content-Length: -1\r\n\r\nx")},
        {"a length in hexadecimal", post("Content-Length: 0x1\r\n\r\nx")},
        {"an empty length", post("Content-Length: \r\n\r\nx")},
        {"a length with a blank inside", post("Content-Length: 1 1\r\n\r\nx")},
        {"a length beyond 64 bits", post("Content-Length: 18446744073709551617\r\n\r\nx")},
        {"blank before the colon", post("Content-Length : 1\r\n\r\nx")},
        {"tab before the colon", post("Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n")},
        {"xchunked", post("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n")},
        {"chunked twice", post("Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n")},
        {"chunked in two fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
        {"chunked and identity", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n")},
        {"gzip in chunks", post("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")},
        {"chunked with a parameter", post("Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n")},
        {"chunked in quotes", post("Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n")},
        {"chunked behind a vertical tab", post("Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n")},
        {"an empty coding", post("Transfer-Encoding:\r\n\r\n0\r\n\r\n")},
        {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    };
    return table;
}

const std::vector<Hostile>& where_does_a_line_end() {
    static const std::vector<Hostile> table = {
        {"bare line feeds", "GET / HTTP/1.1\nHost: h\n\n"},
        {"one bare line feed", "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n"},
        {"a bare line feed at the end", "GET / HTTP/1.1\r\nHost: h\r\n\n"},
        {"bare carriage return in a value", get("X: a\rContent-Length: 1")},
        {"bare carriage return in a name", get("X\r: a")},
        {"bare carriage return in the first line", "GET / HTTP/1.1\rX: y\r\nHost: h\r\n\r\n"},
        {"a folded line", get("X: a\r\n b")},
        {"a folded line with a tab", get("X: a\r\n\tb")},
        {"a folded first field", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"},
        {"a line without a colon", get("X")},
        {"an empty name", get(": x")},
        {"zero byte in a value", get("X: a\0b"s)},
        {"zero byte in a name", get("X\0: a"s)},
        {"zero byte in the target", "GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n"s},
        {"delete in a value", get("X: a\x7f")},
        {"control in the target", "GET /a\x01 HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"tab in the target", "GET /a\tb HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a name with brackets", get("X(y): a")},
        {"a name that is not ASCII", get("X\xC3\xA4: a")},
        {"two hosts", get("Host: other")},
        {"two blanks in the first line", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a blank at its end", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"},
        {"a tab in the first line", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a blank in front of it", " GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a version in small letters", "GET / http/1.1\r\nHost: h\r\n\r\n"},
        {"a version of three numbers", "GET / HTTP/1.1.1\r\nHost: h\r\n\r\n"},
        {"a version of eleven", "GET / HTTP/11.1\r\nHost: h\r\n\r\n"},
        {"a method with brackets", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"no target", "GET HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"empty lines without end", std::string(100, '\r') + "\n"},
    };
    return table;
}

const std::vector<Hostile>& where_does_a_chunk_end() {
    static const std::vector<Hostile> table = {
        {"a chunk size with a sign", chunked("+1\r\nx\r\n0\r\n\r\n")},
        {"a chunk size with 0x", chunked("0x1\r\nx\r\n0\r\n\r\n")},
        {"a chunk size with a blank in front", chunked(" 1\r\nx\r\n0\r\n\r\n")},
        {"a chunk size with a blank behind", chunked("1 \r\nx\r\n0\r\n\r\n")},
        {"an empty chunk size", chunked("\r\nx\r\n0\r\n\r\n")},
        {"a chunk size beyond 64 bits", chunked("10000000000000001\r\nx\r\n0\r\n\r\n")},
        {"a chunk size of many zeros", chunked(std::string(20, '0') + "1\r\nx\r\n0\r\n\r\n")},
        {"a bare line feed behind a chunk size", chunked("1\nx\r\n0\r\n\r\n")},
        {"a bare carriage return behind a chunk size", chunked("1\rx\r\n0\r\n\r\n")},
        {"a chunk longer than it says", chunked("1\r\nxy\r\n0\r\n\r\n")},
        {"a chunk without an end", chunked("1\r\nx0\r\n\r\n")},
        {"a bare line feed behind a chunk", chunked("1\r\nx\n0\r\n\r\n")},
        {"a line feed in a chunk extension", chunked("1;a\nb\r\nx\r\n0\r\n\r\n")},
        {"a zero byte in a chunk extension", chunked("1;a\0\r\nx\r\n0\r\n\r\n"s)},
        {"a chunk extension without end", chunked("1;" + std::string(1'000, 'x') + "\r\nx\r\n0\r\n\r\n")},
        {"a bare line feed behind the last chunk", chunked("0\n\n")},
        {"a trailer that is none", chunked("0\r\nx\r\n\r\n")},
        {"a folded trailer", chunked("0\r\nX: a\r\n b\r\n\r\n")},
    };
    return table;
}

TEST(Http1Hostile, EveryFormIsRefused) {
    for (const auto& table : {where_does_the_body_end(), where_does_a_line_end(), where_does_a_chunk_end()})
        for (const Hostile& hostile : table)
            for (const std::size_t portion : {std::size_t{1}, std::size_t{2}, std::size_t{7}, SIZE_MAX})
                EXPECT_EQ(status_of(hostile.bytes, portion), 400) << hostile.name << " in portions of " << portion;
}

TEST(Http1Hostile, AcceptsUnusualButLegalForms) {
    const std::string taken[] = {
        "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        get("X:a"),
        get("X: \t a \t "),
        get("X:"),
        get("X: a\tb"),
        get("X: \xC3\xA4"),
        get("!#$%&'*+-.^_`|~9: x"),
        "GET /\xC3\xA4 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /?a=\"<>[]{}|^ HTTP/1.1\r\nHost: h\r\n\r\n",
        "PURGE / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
        post("Content-Length: 0001\r\n\r\nx"),
        post("Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"),
        chunked("A\r\n0123456789\r\n0\r\n\r\n"),
        chunked("0000000000000001\r\nx\r\n000\r\n\r\n"),
        chunked("1;name=\"value\"\r\nx\r\n0;last\r\nX: y\r\nZ: \r\n\r\n"),
    };
    for (const std::string& request : taken)
        for (const std::size_t portion : {std::size_t{1}, SIZE_MAX})
            EXPECT_EQ(status_of(request, portion), 200) << request;
}

TEST(Http1Hostile, ABigHeaderIsRefusedWhileItComes) {
    const std::string long_value = "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x');
    EXPECT_EQ(status_of(long_value, 1'000), 431);
    EXPECT_EQ(status_of(long_value.substr(0, 34'000), 1'000), 431) << "not only at its end";
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX:" + std::string(1 << 20, ' '), 1'000), 431) << "blanks count";
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + std::string(1 << 20, 'x'), 1'000), 431) << "a name";
    EXPECT_EQ(status_of("GET /" + std::string(1 << 20, 'x'), 1'000), 414);
    EXPECT_EQ(status_of(std::string(1 << 20, 'x'), 1'000), 400) << "no method is so long";
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 10'000; ++i)
        many += "a:b\r\n";
    EXPECT_EQ(status_of(many, 1'000), 431);
    std::string trailers = chunked("0\r\n");
    for (int i = 0; i < 10'000; ++i)
        trailers += "a:b\r\n";
    EXPECT_EQ(status_of(trailers, 1'000), 431);
}

TEST(Http1Hostile, LinesHaveBounds) {
    EXPECT_EQ(status_of(chunked("1;" + std::string(kChunkLineBytesMax - 2, 'x') + "\r\nx\r\n0\r\n\r\n"), 1), 200);
    EXPECT_EQ(status_of(chunked("1;" + std::string(kChunkLineBytesMax - 1, 'x') + "\r\nx\r\n0\r\n\r\n"), 1), 400);
    EXPECT_EQ(status_of(std::string(kMethodBytesMax, 'x') + " / HTTP/1.1\r\n\r\n", 1), 200);
    EXPECT_EQ(status_of(std::string(kMethodBytesMax + 1, 'x') + " / HTTP/1.1\r\n\r\n", 1), 400);
    std::string empty;
    for (std::size_t i = 0; i < kEmptyLinesMax; ++i)
        empty += "\r\n";
    EXPECT_EQ(status_of(empty + "GET / HTTP/1.1\r\n\r\n", 1), 200);
    EXPECT_EQ(status_of(empty + "\r\nGET / HTTP/1.1\r\n\r\n", 1), 400);
}

}  // namespace
}  // namespace live::engine::http1
