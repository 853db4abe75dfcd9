#include "session/rtsp/peer.hpp"

#include <array>

#include "io/fibers/loop.hpp"

namespace live::session::rtsp {

Result<engine::rtsp::Event> Peer::next_event(io::Deadline deadline) {
    for (;;) {
        auto event = engine_.poll_event();
        TRY(write_output(deadline));
        if (!event.ok())
            return std::move(event).error();
        if (*event)
            return **std::move(event);
        if (io::is_turn_over())
            TRY(io::yield(deadline));
        while (TRY(read_piece()) == 0)
            if (TRY(stream_->wait_ready(io::Interest::readable, nullptr, deadline)).timed_out)
                return Error(Errc::timed_out, "the client sends nothing");
    }
}

Result<std::size_t> Peer::read_piece() {
    const std::size_t bytes = TRY(borrow_piece());
    engine_.keep_bytes();
    return bytes;
}

Result<std::size_t> Peer::borrow_piece() {
    const auto count = stream_->try_read(scratch_);
    if (!count.ok() && count.code() == Errc::need_more)
        return std::size_t{0};
    const std::size_t bytes = TRY(count);
    traffic_.received_bytes += bytes;
    own_traffic_.received_bytes += bytes;
    engine_.borrow_bytes(scratch_.first(bytes));
    return bytes;
}

std::string Peer::take_output() { return engine_.take_output(); }

Result<void> Peer::write_output(io::Deadline deadline) {
    if (!engine_.has_output())
        return {};
    const std::string output = take_output();
    traffic_.sent_bytes += output.size();
    own_traffic_.sent_bytes += output.size();
    const std::array parts{io::as_part(as_bytes(output))};
    return stream_->write_all(parts, deadline.sooner(io::Deadline::after(kWriteLimit)));
}

}  // namespace live::session::rtsp
