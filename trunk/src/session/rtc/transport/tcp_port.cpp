#include "session/rtc/transport/tcp_port.hpp"

#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "engine/webrtc/datagram_kind.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/accept_loop.hpp"
#include "wire/rtp/stream_framing.hpp"

namespace live::session::rtc {

// One connection. Lives in its fiber.
class TcpPort::Link final : public PortLink {
public:
    Link(Port& port, std::unique_ptr<io::TcpStream> stream, const TransportAddress& from, MutBytes scratch)
        : port_(port), stream_(std::move(stream)), from_(from), scratch_(scratch) {}
    ~Link() { port_.forget(*this); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    Result<void> run(io::Deadline deadline);
    void send(Bytes bytes, std::size_t segment_bytes) override;

private:
    Result<void> read();
    Result<void> write();

    Port& port_;
    std::unique_ptr<io::TcpStream> stream_;
    const TransportAddress from_;
    MutBytes scratch_;
    wire::rtp::StreamUnframer unframer_;
    std::vector<std::uint8_t> pending_;
    std::size_t written_ = 0;  // of the pending bytes
    Signal has_pending_;
    bool is_known_ = false;
};

Result<void> TcpPort::Link::run(io::Deadline deadline) {
    for (;;) {
        const auto limit = is_known_ ? kIdleLimit : kFirstLimit;
        const auto until = deadline.sooner(io::Deadline::after(limit));
        for (bool was_read = false; !was_read;) {
            const auto interest = pending_.empty() ? io::Interest::readable : io::Interest::both;
            const auto ready = TRY(stream_->wait_ready(interest, &has_pending_, until));
            if (ready.timed_out)
                return Error(Errc::timed_out, fmt::format("no datagram for {} s", limit.count()));
            if (ready.writable)
                TRY(write());
            if (ready.readable) {
                TRY(read());
                was_read = true;
            }
        }
    }
}

Result<void> TcpPort::Link::read() {
    const auto count = stream_->try_read(scratch_);
    if (!count.ok())
        return count.code() == Errc::need_more ? Result<void>() : Error(count.error());
    TRY(unframer_.feed(Bytes(scratch_).first(*count)));
    const TimePoint now = io::now();
    while (auto datagram = unframer_.next()) {
        if (!is_known_ && engine::webrtc::kind_of(*datagram) != engine::webrtc::DatagramKind::stun)
            return Error(Errc::denied, "the first datagram is no STUN");
        port_.take_from(*this, from_, now, *datagram);
        is_known_ = is_known_ || port_.leads_somewhere(from_);
        if (!is_known_)
            return Error(Errc::denied, "the first check is for none of our sessions");
    }
    port_.end_batch(now);
    return {};
}

void TcpPort::Link::send(Bytes bytes, std::size_t segment_bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += segment_bytes) {
        const Bytes datagram = bytes.subspan(at, std::min(segment_bytes, bytes.size() - at));
        if (pending_.size() - written_ + datagram.size() + wire::rtp::kFrameHeadBytes <= kPendingBytesMax)
            wire::rtp::write_frame(pending_, datagram);
    }
    // The fiber will notice an error.
    if (!write().ok() || !pending_.empty())
        has_pending_.raise();
}

Result<void> TcpPort::Link::write() {
    while (written_ < pending_.size()) {
        const std::array parts{io::as_part(Bytes(pending_).subspan(written_))};
        const std::size_t count = TRY(stream_->try_write(parts));
        if (count == 0)
            break;
        written_ += count;
    }
    if (written_ == pending_.size() || written_ > kPendingBytesMax / 2) {
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(written_));
        written_ = 0;
    }
    return {};
}

Result<void> TcpPort::listen(std::unique_ptr<io::TcpListener> listener, io::Scope& scope) {
    LOG_INFO(log_, "WebRTC listen at tcp://{}, fd={}", listener->endpoint().text(), listener->native_handle());
    listeners_.push_back(std::move(listener));
    auto& opened = *listeners_.back();
    return scope.start("rtc-listener", [this, &opened, &scope](io::Deadline forever) {
        accept_each(opened, scope, "rtc-tcp", log_, places_, forever,
                    [this](std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
                        auto place = places_.take(ConnectionLimits::Kind::client, stream->peer_ip(), sizeof(Link), io::now());
                        if (place.ok())
                            serve(std::move(stream), *std::move(place), deadline);
                    });
    });
}

void TcpPort::serve(std::unique_ptr<io::TcpStream> stream, ConnectionLimits::Place place, io::Deadline deadline) {
    place.set_bytes(sizeof(Link));
    const std::string peer = stream->peer();
    const auto ip = parse_ip(stream->peer_ip());
    if (!ip.ok()) {
        LOG_WARN(log_, "refused {}: {}", peer, ip.error().sentence());
        return;
    }
    static_cast<void>(stream->set_no_delay(true));
    const TransportAddress from{*ip, stream->peer_endpoint().port};
    const auto ended = std::make_unique<Link>(port_, std::move(stream), from, scratch_)->run(deadline);
    // Not an error: browsers open connections that they do not use.
    const bool is_event = ended.code() != Errc::closed && ended.code() != Errc::cancelled && ended.code() != Errc::timed_out;
    if (is_event)
        LOG_WARN(log_, "WebRTC over TCP: {} finished. reason=\"{}\"", peer, ended.error().text());
}

}  // namespace live::session::rtc
