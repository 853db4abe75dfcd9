#include "session/srt/call/byte_stream.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"
#include "session/srt/session.hpp"

namespace live::session::srt {

ByteStream::ByteStream(Context& context, const Endpoint& from)
    : context_(context), from_(from), memory_(context.places.memory(), MemoryBudget::Kind::buffers, *this) {}

ByteStream::~ByteStream() { close(); }

void ByteStream::close() {
    context_.port.remove(*this);
    next_.reset();
    end_.emplace(Errc::closed, "the connection was closed");
    wake();
}

void ByteStream::on_input(TimePoint now) {
    if (!next_)
        if (auto payload = connection()->next_payload(now))
            next_ = std::move(payload->bytes);
    memory_.set(connection()->held_bytes());
    if (is_readable())
        wake();
}

void ByteStream::on_over() {
    if (!end_)
        end_.emplace(error_of(connection()->close_reason()));
    wake();
}

void ByteStream::lose_memory(std::string why) {
    end_.emplace(Errc::limit, std::move(why));
    is_lost_ = true;
    wake();
}

void ByteStream::wake() {
    if (reader_ != nullptr)
        reader_->raise();
}

Result<std::size_t> ByteStream::try_read(MutBytes into) {
    CHECK(into.size() >= kReadBytesMin);
    if (is_lost_)
        return *end_;
    const TimePoint now = io::now();
    std::size_t size = 0;
    for (;;) {
        if (!next_ && connection() != nullptr)
            if (auto payload = connection()->next_payload(now))
                next_ = std::move(payload->bytes);
        if (!next_ || next_->size() > into.size() - size)
            break;
        copy_bytes(next_->bytes(), into.subspan(size));
        size += next_->size();
        next_.reset();
    }
    if (connection() != nullptr) {
        context_.port.service(*this, now);
        context_.port.output().flush();
    }
    if (size > 0)
        return size;
    return end_ ? *end_ : Error(Errc::need_more, "no data has arrived");
}

Result<std::size_t> ByteStream::read_some(MutBytes into, io::Deadline deadline) {
    for (;;) {
        auto read = try_read(into);
        if (read.ok() || read.code() != Errc::need_more)
            return read;
        TRY(wait_readable(deadline));
    }
}

Result<void> ByteStream::wait_readable(io::Deadline deadline) {
    const auto ready = TRY(wait_ready(io::Interest::readable, nullptr, deadline));
    if (ready.timed_out)
        return Error(Errc::timed_out, "no data arrived in time");
    return {};
}

Result<io::Ready> ByteStream::wait_ready(io::Interest /*interest*/, Signal* signal, io::Deadline deadline) {
    if (is_readable() && io::is_turn_over())
        TRY(io::yield(deadline));
    io::Ready ready;
    if (!is_readable()) {
        Signal own;
        reader_ = signal == nullptr ? &own : signal;
        const auto waited = io::wait(*reader_, deadline);
        reader_ = nullptr;
        ready.timed_out = !waited.ok() && waited.code() == Errc::timed_out;
        if (!waited.ok() && !ready.timed_out)
            return Error(waited.error());
        ready.signalled = waited.ok() && signal != nullptr;
    } else {
        ready.signalled = signal != nullptr && signal->consume();
    }
    ready.readable = is_readable();
    return ready;
}

Result<void> ByteStream::write_all(std::span<const ::iovec> parts, io::Deadline /*deadline*/) {
    TRY(try_write(parts));
    return {};
}

Result<std::size_t> ByteStream::try_write(std::span<const ::iovec> /*parts*/) {
    return Error(Errc::unsupported, "a stream that was called for is only read");
}

}  // namespace live::session::srt
