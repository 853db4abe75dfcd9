#include "session/rtsp/pull/media_ports.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/read_tick.hpp"

namespace live::session::rtsp {

using wire::rtsp::NumberPair;

namespace {

// Attempts to find two neighbours among ports that the system chooses.
constexpr int kChoicesMax = 32;

}  // namespace

Result<void> MediaPorts::bind_pair(const std::string& ip, std::uint16_t port) {
    Port rtp;
    Port rtcp;
    rtp.socket = TRY(io::UdpSocket::bind({ip, port}, kBufferBytes));
    const std::uint16_t number = rtp.socket->endpoint().port;
    // RTP has even ports (RFC 3550, 11).
    if (number % 2 != 0 || number == UINT16_MAX)
        return Error(Errc::conflict, "an odd port");
    rtcp.socket = TRY(io::UdpSocket::bind({ip, static_cast<std::uint16_t>(number + 1)}, kBufferBytes));
    rtcp.is_rtcp = true;
    ports_.push_back(std::move(rtp));
    ports_.push_back(std::move(rtcp));
    return {};
}

// In a range, the search begins at a random pair: cameras that are pulled together do not try the same ones.
Result<void> MediaPorts::open_pair(const std::string& ip) {
    const unsigned first = options_.port_min + options_.port_min % 2U;
    const unsigned pairs = options_.port_max > first ? (options_.port_max - first + 1U) / 2U : 0U;
    const bool is_range = options_.port_min > 0;
    const unsigned begin = static_cast<unsigned>(random_number() % std::max(pairs, 1U));
    for (unsigned attempt = 0; attempt < (is_range ? pairs : kChoicesMax); ++attempt) {
        const unsigned port = is_range ? first + 2 * ((begin + attempt) % pairs) : 0U;
        auto bound = bind_pair(ip, static_cast<std::uint16_t>(port));
        if (bound.ok() || bound.code() != Errc::conflict)
            return bound;
    }
    return Error(Errc::conflict, is_range
                                     ? fmt::format("no two free UDP ports from {} to {}", options_.port_min, options_.port_max)
                                     : std::string("no two free UDP ports"));
}

Result<void> MediaPorts::open(std::size_t tracks, const std::string& local_ip, Inbox& inbox) {
    for (std::size_t i = 0; i < tracks; ++i)
        TRY(open_pair(local_ip));
    for (const Port& port : ports_) {
        if (inbox == nullptr)
            inbox = port.socket->inbox();
        port.socket->share_inbox(inbox);
    }
    return {};
}

std::vector<NumberPair> MediaPorts::numbers() const {
    std::vector<NumberPair> numbers;
    for (std::size_t i = 0; i + 1 < ports_.size(); i += 2)
        numbers.push_back({ports_[i].socket->endpoint().port, ports_[i + 1].socket->endpoint().port});
    return numbers;
}

Result<void> MediaPorts::start(std::size_t index, std::size_t track, const IpAddress& camera,
                               const std::optional<NumberPair>& ports) {
    for (const std::size_t at : {2 * index, 2 * index + 1}) {
        Port& port = ports_.at(at);
        port.track = track;
        port.camera = camera;
        port.from = !ports ? std::uint16_t{0} : port.is_rtcp ? ports->rtcp : ports->rtp;
        port.takes_any = options_.any_port || port.from == 0;
        TRY(fibers_.start("rtsp-pull-udp", [this, &port](io::Deadline forever) { receive(port, forever); }));
    }
    return {};
}

void MediaPorts::receive(Port& port, io::Deadline deadline) {
    for (;;) {
        const auto datagrams = port.socket->receive(deadline);
        if (!datagrams.ok() && (datagrams.code() == Errc::cancelled || datagrams.code() == Errc::closed))
            return;
        if (!datagrams.ok())
            continue;
        bool any = false;
        for (const io::Datagram& datagram : *datagrams) {
            const bool is_camera = datagram.from.ip == port.camera && (port.takes_any || datagram.from.port == port.from);
            if (!is_camera) {
                ++refused_;
                continue;
            }
            if (port.takes_any)
                port.from = datagram.from.port;
            any = true;
            receiver_.on_datagram(port.track, port.is_rtcp, datagram.bytes);
        }
        if (any)
            receiver_.on_datagrams_end();
        if (!port.is_rtcp && !receiver_.is_awaited() &&
            !port.socket->gather_until(io::Deadline::at(ReadTick::after(io::now(), kGather))).ok())
            return;
    }
}

void MediaPorts::send(std::size_t track, UdpPorts::Port which, Bytes datagram) {
    for (Port& port : ports_) {
        if (port.track != track || port.is_rtcp != (which == UdpPorts::Port::rtcp) || port.from == 0)
            continue;
        const io::GsoBatch batch{datagram, datagram.size(), {port.camera, port.from}, {}};
        static_cast<void>(port.socket->send(std::span(&batch, 1)));
    }
}

Result<void> MediaPorts::stop(io::Deadline deadline) {
    for (const Port& port : ports_)
        port.socket->close();
    return fibers_.stop(deadline);
}

}  // namespace live::session::rtsp
