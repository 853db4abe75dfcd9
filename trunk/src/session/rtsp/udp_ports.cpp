#include "session/rtsp/udp_ports.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"

namespace live::session::rtsp {

using wire::rtsp::NumberPair;

Result<UdpPorts::Pair> UdpPorts::bind(const char* ip, std::uint16_t port) {
    Pair pair;
    pair.rtp = TRY(io::UdpSocket::bind({ip, port}, kBufferBytes));
    pair.rtcp = TRY(io::UdpSocket::bind({ip, static_cast<std::uint16_t>(port + 1)}, kBufferBytes));
    return pair;
}

// RTP has even ports (RFC 3550, 11).
Result<void> UdpPorts::open(std::uint16_t first, std::uint16_t last) {
    for (unsigned port = first + first % 2U; port + 1 <= last; port += 2) {
        auto pair = bind("0.0.0.0", static_cast<std::uint16_t>(port));
        if (!pair.ok() && pair.code() == Errc::conflict)
            continue;
        pairs_[0] = TRY(std::move(pair));
        if (auto other = bind("::", static_cast<std::uint16_t>(port)); other.ok())
            pairs_[1] = *std::move(other);
        numbers_ = NumberPair{static_cast<std::uint16_t>(port), static_cast<std::uint16_t>(port + 1)};
        LOG_INFO(log_, "RTSP media at udp://0.0.0.0:{}-{}", port, port + 1);
        return {};
    }
    return Error(Errc::conflict, fmt::format("no two free UDP ports from {} to {}", first, last));
}

Result<void> UdpPorts::start(io::Scope& fibers) {
    for (const Pair& pair : pairs_) {
        if (pair.rtp == nullptr)
            continue;
        TRY(fibers.start("rtsp-udp", [this, &pair](io::Deadline forever) { receive(*pair.rtp, pair.rtcp.get(), forever); }));
        TRY(fibers.start("rtsp-udp", [this, &pair](io::Deadline forever) { receive(*pair.rtcp, nullptr, forever); }));
    }
    return {};
}

Result<void> UdpPorts::add(const IpAddress& ip, NumberPair client, UdpReceiver& receiver, std::size_t track) {
    const TransportAddress rtp{ip, client.rtp};
    const TransportAddress rtcp{ip, client.rtcp};
    for (const TransportAddress& address : {rtp, rtcp})
        if (const auto found = owners_.find(address); found != owners_.end() && found->second.receiver != &receiver)
            return Error(Errc::conflict, "another session has these UDP ports");
    if (owners_.size() >= kAddressesMax)
        return Error(Errc::limit, "too many RTSP sessions over UDP");
    owners_[rtp] = {&receiver, track, false};
    owners_[rtcp] = {&receiver, track, true};
    return {};
}

void UdpPorts::remove(const UdpReceiver& receiver) {
    std::erase_if(owners_, [&receiver](const auto& entry) { return entry.second.receiver == &receiver; });
}

// Reports that have arrived go first: with them, audio and video are in step from the first packet.
void UdpPorts::receive(io::UdpSocket& socket, io::UdpSocket* reports, io::Deadline deadline) {
    for (;;) {
        const auto datagrams = socket.receive(deadline);
        if (!datagrams.ok() && (datagrams.code() == Errc::cancelled || datagrams.code() == Errc::closed))
            return;
        if (reports != nullptr)
            if (const auto arrived = reports->take_arrived(); arrived.ok())
                deliver(*arrived);
        if (datagrams.ok())
            deliver(*datagrams);
    }
}

void UdpPorts::deliver(std::span<const io::Datagram> datagrams) {
    touched_.clear();
    for (const io::Datagram& datagram : datagrams) {
        const auto owner = owners_.find(datagram.from);
        if (owner == owners_.end())
            continue;
        traffic_.received_bytes += datagram.bytes.size();
        UdpReceiver* const receiver = owner->second.receiver;
        receiver->on_datagram(owner->second.track, owner->second.is_rtcp, datagram.bytes);
        if (std::ranges::find(touched_, receiver) == touched_.end())
            touched_.push_back(receiver);
    }
    for (UdpReceiver* const receiver : touched_)
        receiver->on_datagrams_end();
}

void UdpPorts::send(Port port, std::span<const io::GsoBatch> batches) {
    if (batches.empty())
        return;
    const Pair& pair = pairs_[batches.front().to.is_ipv4() ? 0 : 1];
    const auto& socket = port == Port::rtp ? pair.rtp : pair.rtcp;
    if (socket == nullptr)
        return;
    for (const io::GsoBatch& batch : batches)
        traffic_.sent_bytes += batch.bytes.size();
    static_cast<void>(socket->send(batches));
}

}  // namespace live::session::rtsp
