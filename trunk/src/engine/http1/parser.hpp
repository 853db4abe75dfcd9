// HTTP/1.1 parsers (RFC 9112) for both ends, pushed with bytes in any portions. No sockets, no timers: a session feeds what it
// read and asks for the message. Requests are read strictly: what another server could understand differently is refused. Answers
// are read as leniently as the text allows a client to be.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/http1/message.hpp"

namespace live::engine::http1 {

struct Limits {
    std::size_t target_bytes = 8 << 10;
    std::size_t header_count = 100;
    std::size_t header_bytes = 32 << 10;  // names and values together
    std::size_t body_bytes = 1 << 20;  // of a whole request; of a response or a streamed request, what is held until it is taken
};

class ParserCore;

// The server's side. After an error the connection is of no use: send an answer of error_status() and close it.
class RequestParser {
public:
    // Says of a request whose header is complete, and that has a body, whether its body is taken piece by piece and may be
    // endless. Must not touch the parser.
    using StreamsBody = std::function<bool(const Request& head)>;

    explicit RequestParser(const Limits& limits = {}, StreamsBody streams_body = {});
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;
    ~RequestParser();

    // Reads off the front of `input`, at most to the end of one request, and says how many bytes that took; take the request with
    // next() before feeding the rest (a client may send the next one without waiting). Errc::malformed, Errc::limit,
    // Errc::unsupported for another major version.
    Result<std::size_t> feed(Bytes input);
    // The request that feed() completed, once. Of a streamed one, its body is what has not been taken.
    std::optional<Request> next();

    // The request whose body is streamed, without the body, as soon as its header is complete; nullptr after next() and for all
    // other requests.
    const Request* streamed() const;
    // What has arrived of the streamed body since the last call. To be called after each feed(): Limits::body_bytes bounds what
    // is held here, not the whole.
    std::string take_body();

    // Of memory, for the body as far as it has arrived and is not taken.
    std::size_t held_bytes() const;
    // Nothing of a request has arrived since the last one: the connection may be closed for idleness without harm.
    bool is_idle() const;
    // The client waits for "100 Continue" before it sends its body (RFC 9110, 10.1.1). True once a request.
    bool take_wants_continue();
    // What to answer after an error: 400, 413, 414, 431 or 505.
    int error_status() const;

private:
    std::unique_ptr<ParserCore> core_;
};

// The client's side.
class ResponseParser {
public:
    // Whether the request was such that its answer has no body although it may announce one.
    enum class RequestWas : bool { other, head };

    explicit ResponseParser(RequestWas request = RequestWas::other, const Limits& limits = {});
    ResponseParser(ResponseParser&&) noexcept;
    ResponseParser& operator=(ResponseParser&&) noexcept;
    ~ResponseParser();

    // As RequestParser::feed. Interim answers (1xx) are skipped, but for 101.
    Result<std::size_t> feed(Bytes input);
    // The peer has closed: the end of a body without a length, else Errc::closed.
    Result<void> finish();
    // The whole answer, once.
    std::optional<Response> next();

    // The answer without its body as soon as its header is complete, for endless bodies; nullptr before and after next().
    const Response* head() const;
    // What has arrived of the body since the last call.
    std::string take_body();

private:
    std::unique_ptr<ParserCore> core_;
};

}  // namespace live::engine::http1
