// ByteStream: the output of a called server as a stream of bytes, for readers other than SRT sessions. Payloads stay in the
// connection, which drops late ones, until they are read. Nothing can be written.
#pragma once

#include <optional>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/net/endpoint.hpp"
#include "io/net/stream.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/srt/call/call.hpp"
#include "session/srt/context.hpp"
#include "session/srt/port/link.hpp"

namespace live::session::srt {

class ByteStream final : public Link, public io::Stream, private MemoryBudget::Holder {
public:
    // At least this many bytes are to be read at once.
    static constexpr std::size_t kReadBytesMin = engine::srt::kDatagramBytesMax;

    // `context` outlives this; `from` is the other side's address.
    ByteStream(Context& context, const Endpoint& from);
    ~ByteStream() override;

    // First of all: takes the call's connection over. Errors as Port::hand_over.
    Result<void> begin(Call& call) { return context_.port.hand_over(call, *this); }

    // Between sending there and reading here, as both sides have agreed.
    Duration latency() const { return connection() == nullptr ? Duration() : Duration(connection()->figures().receive_latency); }

    // io::Stream
    Result<std::size_t> read_some(MutBytes into, io::Deadline deadline) override;
    Result<void> write_all(std::span<const ::iovec> parts, io::Deadline deadline) override;
    Result<void> wait_readable(io::Deadline deadline) override;
    Result<std::size_t> try_read(MutBytes into) override;
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override;
    Result<io::Ready> wait_ready(io::Interest interest, Signal* signal, io::Deadline deadline) override;
    void coalesce_wakes() override {}
    std::string peer() const override { return from_.text(); }
    void close() override;

private:
    // Link
    void on_input(TimePoint now) override;
    void on_over() override;
    bool is_publisher() const override { return true; }
    // MemoryBudget::Holder
    std::string_view address() const override { return from_.ip; }
    void lose_memory(std::string why) override;
    void wake();
    bool is_readable() const { return next_ || end_; }

    Context& context_;
    const Endpoint from_;
    std::optional<Slice> next_;  // a payload that is due
    std::optional<Error> end_;   // reported after all payloads
    bool is_lost_ = false;       // it has lost its memory: nothing more is read
    Signal* reader_ = nullptr;   // while one waits
    MemoryBudget::Use memory_;
};

}  // namespace live::session::srt
