#include "session/srt/port/output.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

void PortOutput::write(Link& link, TimePoint now) {
    const TransportAddress& peer = link.connection_->peer();
    // Callers with one address may have come to two of our sockets; a GSO batch goes out by one.
    if (!receivers_.empty() && receivers_.back()->path_ != link.path_ && receivers_.back()->connection_->peer() == peer)
        flush();
    for (;;) {
        MutBytes place = batch_.place_for(srt::kDatagramBytesMax);
        if (place.empty()) {
            flush();
            place = batch_.place_for(srt::kDatagramBytesMax);
        }
        const std::size_t size = link.connection_->write_next(now, place);
        if (size == 0)
            return;
        batch_.take_placed(peer, size);
        if (batch_.gso_batches() > receivers_.size())
            receivers_.push_back(&link);
    }
}

void PortOutput::flush() {
    std::size_t at = 0;
    batch_.for_each_gso_batch([this, &at](const engine::webrtc::DatagramBatch::GsoBatch& gso) {
        const Path& path = receivers_[at++]->path_;
        if (path.socket == nullptr) {
            figures_.unsent += gso.count;
            return;
        }
        figures_.sent += gso.count;
        figures_.sent_bytes += gso.bytes.size();
        if (path.socket != pending_socket_ || pending_.size() == io::UdpSocket::kBatch)
            send_pending();
        pending_socket_ = path.socket;
        pending_.push_back({gso.bytes, gso.segment_bytes, gso.to, path.local});
    });
    send_pending();
    batch_.clear();
    receivers_.clear();
}

void PortOutput::send_pending() {
    if (!pending_.empty())
        figures_.unsent += pending_.size() - pending_socket_->send(pending_);
    pending_.clear();
}

// In a flood the answers leave with few system calls.
void PortOutput::answer(const Induction& induction, const TransportAddress& to, const Path& path) {
    if (path.socket == nullptr)
        return;
    if (path.socket != pending_socket_ || pending_.size() == io::UdpSocket::kBatch)
        send_pending();
    pending_socket_ = path.socket;
    pending_inductions_[pending_.size()] = induction;
    const Bytes bytes = pending_inductions_[pending_.size()];
    pending_.push_back({bytes, bytes.size(), to, path.local});
    ++figures_.sent;
    figures_.sent_bytes += bytes.size();
}

// Answers to unknown clients leave through the socket of the request.
void PortOutput::send_now(Bytes datagram, const TransportAddress& to, const Path& path) {
    if (path.socket == nullptr)
        return;
    const std::array<io::GsoBatch, 1> one{io::GsoBatch{datagram, datagram.size(), to, path.local}};
    ++figures_.sent;
    figures_.sent_bytes += datagram.size();
    figures_.unsent += 1 - path.socket->send(one);
}

}  // namespace live::session::srt
