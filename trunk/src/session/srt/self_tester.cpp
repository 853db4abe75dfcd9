#include "session/srt/self_tester.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/ip_network.hpp"
#include "engine/srt/handshake/handshake_message.hpp"
#include "io/fibers/loop.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

namespace {

// The first datagram of a client.
std::vector<std::uint8_t> induction(srt::SocketId from) {
    srt::Handshake handshake;
    handshake.version = 4;
    handshake.extension_field = 2;
    handshake.type = static_cast<std::uint32_t>(srt::HandshakeType::induction);
    handshake.socket_id = from;
    return srt::handshake_datagram(handshake, srt::SocketId{}, 0);
}

bool is_answer(Bytes datagram, srt::SocketId to) {
    if (srt::destination_of(datagram) != to || !srt::is_handshake(datagram))
        return false;
    const auto handshake = srt::parse_handshake(datagram.subspan(srt::kHeaderBytes));
    return handshake.ok() && handshake->is(srt::HandshakeType::induction) && handshake->extension_field == srt::kInductionMagic;
}

}  // namespace

std::vector<Endpoint> SelfTester::endpoints() const {
    std::vector<Endpoint> all;
    for (const auto& socket : port_.sockets())
        for (Endpoint& endpoint : reachable_endpoints(socket->endpoint()))
            all.push_back(std::move(endpoint));
    all.resize(std::min(all.size(), kProbesMax));
    return all;
}

Result<SelfTestReport> SelfTester::run(io::Deadline deadline) {
    SelfTestReport report = TRY(tests_.run([this] { return endpoints(); },
                                           [this, deadline](const Endpoint& endpoint) { return probe(endpoint, deadline); }));
    if (!report.is_enabled)
        report.advice.emplace_back("SRT is off: srt_server { enabled on; } and vhost { srt { enabled on; } }");
    else if (!report.is_well)
        report.advice.emplace_back("an address of this machine does not answer to itself: look for a firewall on it");
    else
        report.advice.push_back(fmt::format(
            "this machine is reached at its own addresses; between it and encoders, UDP port {} must be open both ways",
            report.probes.front().port));
    return report;
}

SelfTestReport::Probe SelfTester::probe(const Endpoint& endpoint, io::Deadline deadline) const {
    SelfTestReport::Probe probe{.address = endpoint.ip, .port = endpoint.port, .finding = {}};
    const auto to = parse_ip(endpoint.ip);
    auto socket = io::UdpSocket::bind({endpoint.is_ipv6() ? "::" : "0.0.0.0", 0}, 64 << 10);
    if (!to.ok() || !socket.ok()) {
        probe.finding = to.ok() ? socket.error().sentence() : to.error().sentence();
        return probe;
    }
    const auto id = srt::SocketId{(static_cast<std::uint32_t>(random_number()) & 0x3FFF'FFFF) | 1};
    const auto datagram = induction(id);
    const TimePoint began = io::now();
    const std::array one{io::GsoBatch{datagram, datagram.size(), {*to, endpoint.port}, {}}};
    (*socket)->send(one);
    const auto limit = deadline.sooner(io::Deadline::after(kProbeLimit));
    for (;;) {
        const auto datagrams = (*socket)->receive(limit);
        if (!datagrams.ok()) {
            probe.finding = "no answer: " + datagrams.error().sentence();
            return probe;
        }
        for (const io::Datagram& answer : *datagrams)
            probe.is_reached = probe.is_reached || is_answer(answer.bytes, id);
        if (!probe.is_reached)
            continue;
        probe.took = std::chrono::duration_cast<std::chrono::microseconds>(io::now() - began);
        probe.finding = "it answers";
        return probe;
    }
}

}  // namespace live::session::srt
