// Arbitrary bytes as requests and as responses, once whole and once in portions whose size is the first byte: both must give the
// same result; so must a response's body in pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"

namespace {

using namespace live;
using namespace live::engine::http1;

constexpr Limits kLimits{.target_bytes = 256, .header_count = 8, .header_bytes = 512, .body_bytes = 1'024};

struct Outcome {
    std::vector<Request> requests;
    bool ok = true;
};

Outcome read_requests(Bytes input, std::size_t portion) {
    Outcome outcome;
    RequestParser parser(kLimits);
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty()) {
            const auto used = parser.feed(part);
            if (!used.ok()) {
                CHECK(parser.error_status() >= 400);
                outcome.ok = false;
                return outcome;
            }
            CHECK(*used <= part.size());
            part = part.subspan(*used);
            auto request = parser.next();
            CHECK(*used > 0 || request);
            if (!request)
                continue;
            CHECK(request->target.size() <= kLimits.target_bytes && request->body.size() <= kLimits.body_bytes);
            CHECK(request->headers.fields().size() <= kLimits.header_count);
            outcome.requests.push_back(std::move(*request));
        }
    }
    return outcome;
}

// The same with a streamed body.
Outcome read_streamed(Bytes input, std::size_t portion) {
    Outcome outcome;
    RequestParser parser(kLimits, [](const Request&) { return true; });
    std::string body;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty()) {
            const auto used = parser.feed(part);
            outcome.ok = used.ok();
            if (!outcome.ok)
                return outcome;
            part = part.subspan(*used);
            body += parser.take_body();
            auto request = parser.next();
            if (!request)
                continue;
            request->body = std::exchange(body, {});
            outcome.requests.push_back(std::move(*request));
        }
    }
    return outcome;
}

void read_responses(Bytes input) {
    ResponseParser parser(ResponseParser::RequestWas::other, kLimits);
    while (!input.empty()) {
        const auto used = parser.feed(input);
        if (!used.ok())
            return;
        input = input.subspan(*used);
        static_cast<void>(parser.head());
        if (const auto response = parser.next())
            CHECK(response->body.size() <= kLimits.body_bytes);
        else
            CHECK(*used > 0);
    }
    static_cast<void>(parser.finish().ok());
}

struct Pieces {
    std::string body;
    bool is_complete = false;
    bool ok = true;
};

// The first response, with its body in pieces.
Pieces read_pieces(Bytes input, std::size_t portion) {
    Pieces pieces;
    ResponseParser parser(ResponseParser::RequestWas::other, kLimits);
    while (!input.empty() && !parser.is_complete()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty() && !parser.is_complete()) {
            const std::size_t before = part.size();
            const auto piece = parser.read_piece(part);
            pieces.ok = piece.ok();
            if (!pieces.ok)
                return pieces;
            CHECK(part.size() < before);
            pieces.body += as_text(*piece);
        }
    }
    pieces.is_complete = parser.is_complete();
    return pieces;
}

void compare_pieces(Bytes input, std::size_t portion) {
    const Pieces whole = read_pieces(input, input.size());
    const Pieces parts = read_pieces(input, portion);
    CHECK(whole.ok == parts.ok && whole.is_complete == parts.is_complete && whole.body == parts.body);
    ResponseParser parser(ResponseParser::RequestWas::other, kLimits);
    if (input.empty() || !parser.feed(input).ok())
        return;
    if (const auto response = parser.next())
        CHECK(whole.is_complete && whole.body == response->body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    const Outcome whole = read_requests(input, size);
    const Outcome parts = read_requests(input, std::size_t{data[0]} + 1);
    CHECK(whole.ok == parts.ok && whole.requests.size() == parts.requests.size());
    for (std::size_t i = 0; i < whole.requests.size(); ++i) {
        const Request& a = whole.requests[i];
        const Request& b = parts.requests[i];
        CHECK(a.method == b.method && a.target == b.target && a.headers == b.headers && a.body == b.body);
        CHECK(a.keep_alive == b.keep_alive && a.upgrade == b.upgrade);
    }
    // Portions are smaller than the parser's buffer: only the limit on whole bodies does not apply to them.
    const Outcome streamed = read_streamed(input, std::size_t{data[0]} + 1);
    CHECK(streamed.ok || !whole.ok);
    CHECK(streamed.requests.size() >= whole.requests.size());
    for (std::size_t i = 0; i < whole.requests.size(); ++i)
        CHECK(streamed.requests[i].target == whole.requests[i].target && streamed.requests[i].body == whole.requests[i].body);
    read_responses(input);
    compare_pieces(input, std::size_t{data[0]} + 1);
    return 0;
}
