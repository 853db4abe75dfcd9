// RequestStream: one request of an HTTP/2 connection, as the stream that handlers write to. Bytes go from the handler's own
// memory into frames as flow control and the socket permit; nothing is buffered here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/signal.hpp"
#include "engine/http2/server.hpp"
#include "io/net/stream.hpp"
#include "session/http/exchange.hpp"
#include "session/limits/memory_budget.hpp"

namespace live::session::http2 {

// The connection of the streams. Its functions must not suspend.
class Link {
public:
    virtual engine::http2::Server& engine() = 0;
    // Moves frames to the socket until it is full, and passes events on. Errc::closed and others: the connection is over.
    virtual Result<void> pump() = 0;
    virtual std::string peer() const = 0;
    virtual std::string_view peer_ip() const = 0;

protected:
    ~Link() = default;
};

class RequestStream final : public io::Stream, public http::MultiplexedStream, private MemoryBudget::Holder {
public:
    // The link and the budget outlive this.
    RequestStream(Link& link, engine::http2::StreamId id, MemoryBudget& budget)
        : link_(link), id_(id), memory_(budget, MemoryBudget::Kind::unfinished, *this) {}

    // From the connection: an event of this stream, or `closed` when the connection is over.
    void on_event(engine::http2::Event::Kind kind);
    engine::http2::StreamId id() const { return id_; }
    MemoryBudget::Use& memory() { return memory_; }
    // The handler has returned: completes or resets the stream.
    void finish(bool is_ok);

    // io::Stream. There is nothing to read but the end: bodies come by read_body(). Errc::closed after a reset by either side.
    Result<std::size_t> read_some(MutBytes into, io::Deadline deadline) override;
    Result<void> write_all(std::span<const ::iovec> parts, io::Deadline deadline) override;
    Result<void> wait_readable(io::Deadline deadline) override;
    Result<std::size_t> try_read(MutBytes into) override;
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override;
    Result<io::Ready> wait_ready(io::Interest interest, Signal* signal, io::Deadline deadline) override;
    void coalesce_wakes() override {}
    std::string peer() const override { return link_.peer(); }
    // Resets the stream.
    void close() override { reset(engine::http2::Code::cancel); }

    // http::MultiplexedStream
    void respond(const ResponseHead& head) override;
    void end_body() override;
    Result<std::string> read_body(io::Deadline deadline) override;

private:
    // MemoryBudget::Holder
    std::string_view address() const override { return link_.peer_ip(); }
    void lose_memory(std::string why) override;

    void reset(engine::http2::Code code);
    Result<void> check_open() const;
    bool is_last(std::size_t bytes) const { return left_ && bytes >= *left_; }
    void count_sent(std::size_t bytes);

    Link& link_;
    const engine::http2::StreamId id_;
    MemoryBudget::Use memory_;
    Signal changed_;
    std::optional<std::uint64_t> left_;  // bytes of the announced length that are not sent
    http::BodyEnd end_ = http::BodyEnd::none;
    bool is_answered_ = false;
    bool is_ended_ = false;    // the response is complete
    bool has_room_ = true;     // for try_write()
    bool is_written_ = false;  // the bytes of write_all() are in frames
    bool is_closed_ = false;
};

}  // namespace live::session::http2
