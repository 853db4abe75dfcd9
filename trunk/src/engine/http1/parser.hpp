// HTTP/1.1 parsers (RFC 9112) for both ends, fed with bytes in any portions. No sockets, no timers: a session feeds the bytes it
// read and takes the message. Requests are parsed strictly: anything another server could interpret differently is refused.
// Responses are parsed as leniently as the RFC allows a client to be.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::http1 {

struct Limits {
    std::size_t target_bytes = 8 << 10;
    std::size_t header_count = 100;
    std::size_t header_bytes = 32 << 10;  // names and values together
    std::size_t body_bytes = 1 << 20;  // of a whole request; for responses and streamed requests, the bytes buffered until taken
};

class ParserCore;

// The server side. After an error the connection is unusable: send a response with error_status() and close it.
class RequestParser {
public:
    // Called for a request with a body once its header is complete: returns whether the body is taken in pieces and may be
    // endless. Must not call the parser.
    using StreamsBody = std::function<bool(const Request& head)>;

    explicit RequestParser(const Limits& limits = {}, StreamsBody streams_body = {});
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;
    ~RequestParser();

    // Consumes input up to the end of one request at most, and returns the number of bytes consumed; take the request with next()
    // before feeding the rest (clients may pipeline). Errc::malformed, Errc::limit, Errc::unsupported for another major version.
    Result<std::size_t> feed(Bytes input);
    // Returns the completed request once. For a streamed request, the body is the part not taken yet.
    std::optional<Request> next();

    // The request whose body is streamed, without the body, as soon as its header is complete; nullptr after next() and for all
    // other requests.
    const Request* streamed() const;
    // The part of the streamed body received since the last call. To be called after each feed(): Limits::body_bytes limits the
    // buffered part, not the total.
    std::string take_body();

    // Memory of the body bytes received and not yet taken.
    std::size_t held_bytes() const;
    // No part of a new request has arrived: the connection may be closed as idle.
    bool is_idle() const;
    // The client waits for "100 Continue" before it sends its body (RFC 9110, 10.1.1). True once per request.
    bool take_wants_continue();
    // The status to answer after an error: 400, 413, 414, 431 or 505.
    int error_status() const;

private:
    std::unique_ptr<ParserCore> core_;
};

// The client side.
class ResponseParser {
public:
    // The response to a HEAD request has no body although it may announce one.
    enum class RequestWas : bool { other, head };

    explicit ResponseParser(RequestWas request = RequestWas::other, const Limits& limits = {});
    ResponseParser(ResponseParser&&) noexcept;
    ResponseParser& operator=(ResponseParser&&) noexcept;
    ~ResponseParser();

    // As RequestParser::feed. Interim responses (1xx) are skipped, except 101.
    Result<std::size_t> feed(Bytes input);
    // In place of feed(), for a body of any size: takes bytes from the front of `input` and returns the next piece of the body,
    // borrowed from `input`. The piece is empty when `input` is used up or the response is complete; bytes after the response
    // stay in `input`. Limits::body_bytes does not apply.
    Result<Bytes> read_piece(Bytes& input);
    // The peer has closed: this ends a body without a length, else Errc::closed.
    Result<void> finish();
    bool is_complete() const;
    // Returns the whole response once.
    std::optional<Response> next();

    // The response without its body as soon as its header is complete, for endless bodies; nullptr before that and after next().
    const Response* head() const;
    // The part of the body received since the last call.
    std::string take_body();

private:
    std::unique_ptr<ParserCore> core_;
};

}  // namespace live::engine::http1
