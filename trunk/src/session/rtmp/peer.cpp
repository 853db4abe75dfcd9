#include "session/rtmp/peer.hpp"

#include <array>
#include <utility>

namespace live::session::rtmp {

Peer::Peer(std::unique_ptr<io::Stream> stream, io::TcpStream* tcp, engine::rtmp::ServerOptions options,
           std::uint64_t handshake_seed, MutBytes scratch, Traffic& traffic)
    : stream_(std::move(stream)), tcp_(tcp), scratch_(scratch), traffic_(traffic), engine_(std::move(options), handshake_seed) {}

Result<engine::rtmp::Event> Peer::next_event(io::Deadline deadline) {
    for (;;) {
        if (auto event = engine_.poll_event())
            return std::move(*event);
        TRY(write_output(deadline));
        TRY(read(deadline));
    }
}

void Peer::count_received(std::size_t bytes) {
    traffic_.received_bytes += bytes;
    own_traffic_.received_bytes += bytes;
}

Result<void> Peer::read(io::Deadline deadline) {
    const std::size_t count = TRY(stream_->read_some(scratch_, deadline));
    count_received(count);
    return engine_.handle_bytes(io::now(), scratch_.first(count));
}

Result<std::size_t> Peer::read_available() {
    std::size_t total = 0;
    while (total < kReadBytesMax) {
        const auto count = stream_->try_read(scratch_);
        if (!count.ok()) {
            if (count.code() == Errc::need_more)
                break;
            return Error(count.error());
        }
        total += *count;
        count_received(*count);
        TRY(engine_.handle_bytes(io::now(), scratch_.first(*count)));
        // Over TLS a read gives one record, however much waits.
        if (tcp_ != nullptr && *count < scratch_.size())
            break;
    }
    return total;
}

Result<void> Peer::write_output(io::Deadline deadline) {
    const std::vector<std::uint8_t> output = take_output();
    if (output.empty())
        return {};
    const std::array parts{io::as_part(output)};
    traffic_.sent_bytes += output.size();
    own_traffic_.sent_bytes += output.size();
    return stream_->write_all(parts, deadline);
}

std::vector<std::uint8_t> Peer::take_output() {
    std::vector<std::uint8_t> output;
    engine_.take_output(output);
    return output;
}

}  // namespace live::session::rtmp
