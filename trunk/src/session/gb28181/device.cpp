#include "session/gb28181/device.hpp"

#include <utility>

#include "io/fibers/loop.hpp"

namespace live::session::gb28181 {

Result<void> UdpInput::receive(io::Deadline deadline) { return io::wait(device_.changed, deadline); }

bool TcpInput::take_packets() {
    bool has_any = false;
    while (const auto packet = frames_.next()) {
        device_.receiver->handle_tcp_packet(*packet, frames_.follows_gap());
        has_any = true;
    }
    return has_any;
}

Result<void> TcpInput::receive(io::Deadline deadline) {
    if (take_packets())
        return {};
    const std::size_t count = TRY(stream_.read_some(scratch_, deadline));
    traffic_.received_bytes += count;
    received_ += count;
    is_drained_ = count < scratch_.size();
    device_.received_at = io::now();
    TRY(frames_.feed(Bytes(scratch_).first(count)));
    take_packets();
    return {};
}

Result<void> TcpInput::pause(std::chrono::milliseconds tick, io::Deadline deadline) {
    if (!std::exchange(is_drained_, false))
        return {};
    const auto window = [this] { return stream_.receive_buffer() / 2; };
    const TimePoint next = ticks_.next(io::now(), tick, std::exchange(received_, 0), window);
    stream_.forget();
    const auto waited = io::wait(device_.changed, deadline.sooner(io::Deadline::at(next)));
    return !waited.ok() && waited.code() == Errc::cancelled ? waited : Result<void>();
}

}  // namespace live::session::gb28181
