// The server end of an HTTP/2 connection (RFC 9113): frames, HPACK and flow control by libnghttp2 in memory. Dry: bytes and a
// time go in, events and bytes come out. Requests become values as those of HTTP/1.1 (engine/http1/message.hpp). Bodies of
// responses are never buffered here: a caller offers bytes, and as many as flow control permits are copied into frames.
// Priorities are ignored, trailers dropped, and nothing is pushed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/uio.h>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/http1/message.hpp"
#include "engine/http1/parser.hpp"
#include "engine/http2/flood_guard.hpp"

namespace live::engine::http2 {

// Reports whether this build has libnghttp2. Without it a Server must not be created.
bool is_available();

using StreamId = std::int32_t;

// Reasons of a reset and of GOAWAY (RFC 9113, 7).
enum class Code : std::uint32_t {
    no_error = 0,
    protocol_error = 1,
    internal_error = 2,
    refused_stream = 7,
    cancel = 8,
    enhance_your_calm = 11,
};

struct Event {
    enum class Kind : std::uint8_t {
        request,   // its header is complete: take_request()
        body,      // bytes of its body or its end: take_body()
        writable,  // all offered bytes are in frames, or there is room for those of want_room()
        closed,    // completely sent and received, or reset; the id is unknown from now on
    };
    Kind kind{};
    StreamId stream = 0;
};

struct StreamRequest {
    http1::Request message;  // with :authority as Host; without its body
    bool has_body = false;
    int refusal = 0;  // 431: the fields exceed the limits, and only some of them are in the message; otherwise 0
};

class Server {
public:
    // SETTINGS_MAX_CONCURRENT_STREAMS.
    static constexpr std::uint32_t kStreamsMax = 100;
    // Bytes of request bodies that are received and not taken.
    static constexpr std::int32_t kStreamWindow = 256 << 10;
    static constexpr std::int32_t kConnectionWindow = 1 << 20;
    // Payload of a sent DATA frame: the frame is one full TLS record.
    static constexpr std::size_t kDataBytesMax = (16 << 10) - 9;

    using Fields = std::vector<std::pair<std::string, std::string>>;

    explicit Server(const http1::Limits& limits = {});
    Server(Server&&) = delete;
    ~Server();

    // Takes all of `input`. Then drain events and output before the next input. Errc::malformed for a connection error,
    // Errc::limit for a flood (flood()): send the pending output, which has a GOAWAY, and close.
    Result<void> handle_bytes(TimePoint now, Bytes input);
    std::optional<Event> poll_event();
    // The next frames, at most some 16 KiB, valid until the next call of any function; empty: nothing to send now. Errc::limit as
    // above.
    Result<Bytes> next_output();
    // The bound that the client has exceeded.
    std::optional<Flood> flood() const;

    // Streams that are not closed.
    std::size_t streams() const;
    // Bytes of bodies received and not taken.
    std::size_t held_bytes() const;
    // Both ends are done: the connection should be closed.
    bool is_over() const;

    // The functions of a stream return nothing or false, or have no effect, once it is closed.
    std::optional<StreamRequest> take_request(StreamId stream);
    // Bytes of the body received since the last call; opens the window for as many.
    std::string take_body(StreamId stream);
    bool is_body_complete(StreamId stream) const;
    bool is_open(StreamId stream) const;

    // Queues an interim response (100).
    void send_interim(StreamId stream, int status);
    // Queues the head of the response, once. Fields of HTTP/1.1 connections are left out. Without a body it is the whole
    // response.
    void respond(StreamId stream, int status, const Fields& fields, bool has_body);
    // The parts are read by next_output() and must stay valid until withdraw() or the stream's `writable` or `closed` event.
    // `is_last`: they end the body.
    void offer(StreamId stream, std::span<const ::iovec> parts, bool is_last);
    // Returns the number of bytes that were taken from the last offer.
    std::size_t withdraw(StreamId stream);
    // A `writable` event follows when flow control permits a byte. Without effect while bytes are offered.
    void want_room(StreamId stream);
    // Ends the body after what was taken.
    void end(StreamId stream);
    void reset(StreamId stream, Code code);

    // GOAWAY: the client starts no further requests; the existing ones continue.
    void finish();
    // GOAWAY, and nothing else is received or sent.
    void abort(Code code);

private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace live::engine::http2
