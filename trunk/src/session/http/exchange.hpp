// Exchange: one request and its connection, for a handler that writes the response itself. Created by the connection, which
// outlives it. Either send() a whole response, or send_head() followed by the body over stream(): as many bytes as announced, or
// chunks until finish_chunks(), or anything until the connection ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "engine/http1/parser.hpp"
#include "engine/http1/writer.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/http/context.hpp"
#include "session/http/handler.hpp"
#include "session/limits/memory_budget.hpp"
#include "wire/http/status.hpp"

namespace live::session::http {

// How the end of a body is signalled.
enum class BodyEnd : std::uint8_t {
    none,    // no body at all: 204, 304, 101
    length,  // after the announced number of bytes
    chunks,  // after the last chunk; HTTP/1.0 and HTTP/2 clients get close instead
    close,   // with the connection, or the stream of HTTP/2
};

struct Head {
    int status = 200;
    std::string content_type;  // empty: none is sent
    BodyEnd end = BodyEnd::chunks;
    std::uint64_t length = 0;  // with BodyEnd::length
    // Server, Connection, Vary and the CORS fields are added to these.
    std::vector<std::pair<std::string, std::string>> headers;
    // No response follows this one on the connection, for example after a live stream.
    bool is_last = false;
    // The response depends on the request's Accept-Encoding.
    bool varies_by_coding = false;
};

// Whether a response may be compressed with gzip.
bool accepts_gzip(const Request& request);

// The stream of an HTTP/2 connection that a request came on.
class MultiplexedStream {
public:
    struct ResponseHead {
        int status = 200;
        std::vector<std::pair<std::string, std::string>> fields;
        BodyEnd end = BodyEnd::none;  // none for HEAD too
        std::uint64_t length = 0;     // with BodyEnd::length
    };

    // Queues the head. Must not suspend.
    virtual void respond(const ResponseHead& head) = 0;
    // Ends a body of BodyEnd::chunks. Must not suspend.
    virtual void end_body() = 0;
    // As Exchange::read_body.
    virtual Result<std::string> read_body(io::Deadline deadline) = 0;

protected:
    ~MultiplexedStream() = default;
};

class Exchange {
public:
    // Time limit to send a whole response, or a head.
    static constexpr std::chrono::seconds kSendLimit{30};

    struct Connection {
        io::Stream& stream;
        io::TcpStream* tcp;  // the same when it is plain TCP, else nullptr
        Context& context;
        engine::http1::RequestParser* parser;  // this and `rest`: of HTTP/1.1 only, otherwise nullptr
        std::vector<std::uint8_t>* rest;
        MemoryBudget::Use& memory;
        const Log& log;
        std::uint64_t number;  // request number in this process, for the log; 0: one that could not be read
        bool may_stay;         // another request may follow
    };

    // `multiplexed`: over HTTP/2 only, the same stream as that of the connection.
    Exchange(const Request& request, const Connection& connection, BodyMode mode, MultiplexedStream* multiplexed = nullptr)
        : request_(request), connection_(connection), body_is_read_(mode == BodyMode::whole), multiplexed_(multiplexed) {}
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    const Request& request() const { return request_; }
    const Log& log() const { return connection_.log; }
    io::Stream& stream() { return connection_.stream; }
    // nullptr over TLS.
    io::TcpStream* tcp() { return connection_.tcp; }
    // Shared with all fibers: touched only between two suspensions.
    MutBytes scratch() { return connection_.context.scratch; }
    Traffic& traffic() { return connection_.context.traffic; }

    // A whole response, without its body for HEAD; compressed when the same body has been sent before.
    Result<void> send(Reply reply, io::Deadline deadline);
    // The caller then sends the body; for HEAD there is none.
    Result<void> send_head(const Head& head, io::Deadline deadline);
    // The text of that head, for callers that send it together with the first bytes. Over HTTP/2 the head is queued in front of
    // them, and the text is empty.
    std::string head_text(const Head& head);
    // The end that send_head() has announced: chunks may have become close.
    BodyEnd body_end() const { return end_; }
    // Ends a chunked body.
    Result<void> finish_chunks(io::Deadline deadline);

    // The next bytes of a streamed body (Handler::body_mode), none at its end. Errors as Stream::read_some, and Errc::malformed.
    Result<std::string> read_body(io::Deadline deadline);
    // Input after the request, once: the first bytes of another protocol.
    std::vector<std::uint8_t> take_rest() {
        return connection_.rest == nullptr ? std::vector<std::uint8_t>() : std::exchange(*connection_.rest, {});
    }

    // Accounts for streamed-body data that a handler keeps.
    MemoryBudget::Use& memory() { return connection_.memory; }

    // Reports whether nothing has been sent so far.
    bool is_unanswered() const { return status_ == 0; }
    // The status of the response; 0 before it.
    int status() const { return status_; }
    // Makes the coming response the last one of the connection, whatever it is.
    void make_last() { connection_.may_stay = false; }
    // The connection must be closed after this response.
    bool must_close() const { return is_last_ || !body_is_read_ || !connection_.may_stay; }

private:
    engine::http1::ResponseBuilder::Connection connection_said() const;
    void log_request() const;
    // Returns whether the response depends on the client's Accept-Encoding.
    bool compress(Reply& reply);
    void queue_head(const Head& head);
    Result<void> send_text(std::string_view text, io::Deadline deadline);

    const Request& request_;
    Connection connection_;
    int status_ = 0;
    BodyEnd end_ = BodyEnd::none;
    bool is_last_ = false;  // known once the head is sent
    bool body_is_read_;
    MultiplexedStream* multiplexed_;
};

}  // namespace live::session::http
