#include "session/gb28181/device.hpp"

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
    device_.heard = io::now();
    TRY(frames_.feed(Bytes(scratch_).first(count)));
    take_packets();
    return {};
}

}  // namespace live::session::gb28181
