#include "session/rtmp/peer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::session::rtmp {

namespace {

// Time limit of the engine per piece: one-byte messages are disproportionately expensive.
constexpr std::chrono::milliseconds kPieceMax{1};
constexpr std::size_t kPieceBytesMin = 4 * 1024;

}  // namespace

Peer::Peer(std::unique_ptr<io::Stream> stream, engine::rtmp::ServerOptions options, std::uint64_t handshake_seed,
           MutBytes scratch, Traffic& traffic, MemoryBudget& memory, MemoryBudget::Holder& holder)
    : stream_(std::move(stream)),
      tcp_(stream_->as_tcp()),
      scratch_(scratch),
      traffic_(traffic),
      engine_(std::move(options), handshake_seed),
      memory_(memory, MemoryBudget::Kind::unfinished, holder) {}

Result<engine::rtmp::Event> Peer::next_event(io::Deadline deadline) {
    for (;;) {
        if (auto event = engine_.poll_event())
            return std::move(*event);
        TRY(write_output(deadline));
        TRY(read(deadline));
    }
}

Result<void> Peer::read(io::Deadline deadline) {
    // There may always be more input.
    if (io::is_turn_over())
        TRY(io::yield(deadline));
    while (TRY(read_piece()).bytes == 0)
        if (TRY(stream_->wait_ready(io::Interest::readable, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the client sends nothing");
    return {};
}

Result<Peer::Piece> Peer::read_piece() {
    const std::size_t wanted = std::min(piece_bytes_, scratch_.size());
    const auto count = stream_->try_read(scratch_.first(wanted));
    if (!count.ok() && count.code() == Errc::need_more)
        return Piece();
    const std::size_t bytes = TRY(count);
    const auto soon = io::Deadline::after(kPieceMax / 4);
    const auto late = io::Deadline::after(kPieceMax);
    traffic_.received_bytes += bytes;
    own_traffic_.received_bytes += bytes;
    const auto handled = engine_.handle_bytes(io::now(), scratch_.first(bytes));
    memory_.set(engine_.held_bytes());
    TRY(handled);
    if (late.expired())
        piece_bytes_ = std::max(wanted / 2, kPieceBytesMin);
    else if (bytes == wanted && !soon.expired())
        piece_bytes_ = wanted * 2;
    // Over TLS a read returns one record, however much is pending.
    return Piece{bytes, tcp_ == nullptr || bytes == wanted};
}

std::size_t Peer::receive_buffer() const {
    constexpr std::size_t kUsual = 128 * 1024;
    const io::TcpStream* const carrier = stream_->carrier();
    return carrier == nullptr ? kUsual : carrier->receive_buffer();
}

Result<void> Peer::set_no_delay(bool on) {
    io::TcpStream* const carrier = stream_->carrier();
    return carrier == nullptr ? Result<void>() : carrier->set_no_delay(on);
}

void Peer::forget() {
    if (io::TcpStream* const carrier = stream_->carrier())
        carrier->forget();
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
