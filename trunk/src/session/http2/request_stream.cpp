#include "session/http2/request_stream.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::session::http2 {

namespace {

using engine::http2::Code;
using engine::http2::Event;

std::size_t bytes_of(std::span<const ::iovec> parts) {
    std::size_t bytes = 0;
    for (const ::iovec& part : parts)
        bytes += part.iov_len;
    return bytes;
}

// While it exists, one signal raises another.
class RaiseBoth final : private Signal::Waiter {
public:
    RaiseBoth(Signal* from, Signal& to) : from_(from), to_(to) {
        if (from_ != nullptr)
            from_->set_waiter(this);
    }
    ~RaiseBoth() {
        if (from_ != nullptr)
            from_->set_waiter(nullptr);
    }
    RaiseBoth(const RaiseBoth&) = delete;
    RaiseBoth& operator=(const RaiseBoth&) = delete;

private:
    void on_raised() override { to_.raise(); }

    Signal* from_;
    Signal& to_;
};

}  // namespace

void RequestStream::on_event(Event::Kind kind) {
    if (kind == Event::Kind::writable) {
        has_room_ = true;
        is_written_ = true;
    }
    if (kind == Event::Kind::closed)
        is_closed_ = true;
    changed_.raise();
}

Result<void> RequestStream::check_open() const {
    if (is_closed_)
        return Error(Errc::closed, "the client has ended the request");
    return {};
}

void RequestStream::count_sent(std::size_t bytes) {
    if (!left_)
        return;
    *left_ -= std::min<std::uint64_t>(*left_, bytes);
    is_ended_ = is_ended_ || *left_ == 0;
}

Result<void> RequestStream::write_all(std::span<const ::iovec> parts, io::Deadline deadline) {
    const std::size_t bytes = bytes_of(parts);
    if (bytes == 0)
        return link_.pump();
    TRY(check_open());
    auto& engine = link_.engine();
    is_written_ = false;
    engine.offer(id_, parts, is_last(bytes));
    Result<void> waited = link_.pump();
    while (waited.ok() && !is_written_ && !is_closed_)
        waited = io::wait(changed_, deadline);
    engine.withdraw(id_);
    if (!is_written_) {
        TRY(std::move(waited));
        return check_open();
    }
    count_sent(bytes);
    return {};
}

Result<std::size_t> RequestStream::try_write(std::span<const ::iovec> parts) {
    TRY(check_open());
    const std::size_t bytes = bytes_of(parts);
    auto& engine = link_.engine();
    engine.offer(id_, parts, is_last(bytes));
    auto pumped = link_.pump();
    const std::size_t taken = engine.withdraw(id_);
    TRY(std::move(pumped));
    count_sent(taken);
    has_room_ = taken == bytes;
    return taken;
}

Result<io::Ready> RequestStream::wait_ready(io::Interest interest, Signal* signal, io::Deadline deadline) {
    const bool wants_output = interest == io::Interest::writable || interest == io::Interest::both;
    const RaiseBoth both(signal, changed_);
    if (wants_output && !has_room_) {
        link_.engine().want_room(id_);
        TRY(link_.pump());
    }
    for (;;) {
        TRY(check_open());
        io::Ready ready;
        ready.writable = wants_output && has_room_;
        ready.signalled = signal != nullptr && signal->consume();
        if (ready.writable || ready.signalled)
            return ready;
        const auto waited = io::wait(changed_, deadline);
        if (!waited.ok() && waited.code() == Errc::timed_out) {
            ready.timed_out = true;
            return ready;
        }
        TRY(waited);
    }
}

Result<void> RequestStream::wait_readable(io::Deadline deadline) {
    while (!is_closed_)
        TRY(io::wait(changed_, deadline));
    return {};
}

Result<std::size_t> RequestStream::try_read(MutBytes) {
    TRY(check_open());
    return Error(Errc::need_more, "");
}

Result<std::size_t> RequestStream::read_some(MutBytes into, io::Deadline deadline) {
    TRY(wait_readable(deadline));
    return try_read(into);
}

void RequestStream::respond(const ResponseHead& head) {
    is_answered_ = true;
    end_ = head.end;
    const bool has_body = head.end != http::BodyEnd::none && (head.end != http::BodyEnd::length || head.length > 0);
    if (has_body && head.end == http::BodyEnd::length)
        left_ = head.length;
    is_ended_ = !has_body;
    link_.engine().respond(id_, head.status, head.fields, has_body);
}

void RequestStream::end_body() {
    is_ended_ = true;
    link_.engine().end(id_);
    static_cast<void>(link_.pump());
}

Result<std::string> RequestStream::read_body(io::Deadline deadline) {
    for (;;) {
        TRY(check_open());
        if (std::string part = link_.engine().take_body(id_); !part.empty()) {
            TRY(link_.pump());  // opens the window
            return part;
        }
        if (link_.engine().is_body_complete(id_))
            return std::string();
        TRY(io::wait(changed_, deadline));
    }
}

void RequestStream::finish(bool is_ok) {
    if (is_closed_)
        return;
    const bool may_end = end_ == http::BodyEnd::close || (end_ == http::BodyEnd::chunks && is_ok);
    if (is_answered_ && !is_ended_ && may_end)
        end_body();
    else
        static_cast<void>(link_.pump());
    if (!is_ended_)
        return reset(Code::internal_error);
    // RFC 9113, 8.1: the client may stop sending its body.
    if (!is_closed_ && !link_.engine().is_body_complete(id_))
        reset(Code::no_error);
}

void RequestStream::reset(Code code) {
    if (is_closed_)
        return;
    is_closed_ = true;
    changed_.raise();
    link_.engine().reset(id_, code);
    static_cast<void>(link_.pump());
}

void RequestStream::lose_memory(std::string) { reset(Code::enhance_your_calm); }

}  // namespace live::session::http2
