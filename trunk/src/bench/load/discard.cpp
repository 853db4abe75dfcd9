#include "bench/load/discard.hpp"

#include "io/fibers/loop.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::bench {

Discard::~Discard() {
    if (drained_ >= 0)
        client_.context.drain.leave(drained_);
}

Result<void> Discard::take(std::uint64_t bytes, io::Deadline deadline) {
    TRY(start());
    if (drained_ < 0)
        return read(bytes, deadline);
    wanted_ = bytes > UINT64_MAX - received_ ? UINT64_MAX : received_ + bytes;
    while (received_ < wanted_ && !has_ended_) {
        const std::uint64_t before = received_;
        const auto waited = io::wait(changed_, deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit)));
        if (!waited.ok() && (waited.code() != Errc::timed_out || received_ == before))
            return Error(waited.error());
    }
    if (error_ != 0)
        return system_error("reading from a connection", error_);
    return received_ < wanted_ ? Result<void>(Error(Errc::closed, "the peer has closed the connection")) : Result<void>();
}

Result<void> Discard::start() {
    auto* const tcp = dynamic_cast<io::TcpStream*>(&stream_);
    if (drained_ >= 0 || has_ended_ || tcp == nullptr || !tcp->is_open())
        return {};
    // Each epoll that watches the socket costs the sender a call: one is enough.
    tcp->forget();
    TRY(client_.context.drain.join(tcp->native_handle(), *this));
    drained_ = tcp->native_handle();
    return {};
}

Result<void> Discard::read(std::uint64_t bytes, io::Deadline deadline) {
    for (std::uint64_t got = 0; got < bytes;) {
        const auto limit = deadline.sooner(io::Deadline::at(io::now() + LoadTask::kIdleLimit));
        const std::size_t count = TRY(stream_.read_some(client_.scratch(), limit));
        client_.count_in(count);
        got += count;
    }
    return {};
}

void Discard::on_bytes(std::size_t count) {
    client_.count_in(count);
    received_ += count;
    if (received_ >= wanted_)
        changed_.raise();
}

void Discard::on_end(int error) {
    has_ended_ = true;
    error_ = error;
    changed_.raise();
}

}  // namespace live::bench
