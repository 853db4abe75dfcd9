#include "session/srt/port/figures.hpp"

#include "base/log/log_format.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

void LinkTotals::add(const srt::Figures& figures) {
    received += figures.received;
    receive_lost += figures.receive_lost;
    receive_retransmitted += figures.received_retransmitted;
    receive_dropped += figures.receive_dropped;
    sent += figures.sent;
    send_lost += figures.send_lost;
    retransmitted += figures.retransmitted;
    send_dropped += figures.send_dropped;
    undecrypted += figures.undecrypted;
}

std::string report_line(const PortReading& now, const PortReading& then) {
    const auto links = [&](std::uint64_t LinkTotals::*figure) { return now.links.*figure - then.links.*figure; };
    return fmt::format(
        "SRT: Server conns={}, pub={}, play={}, Transport Stats # pktRecv={}, pktRcvLoss={}, pktRcvRetrans={}, pktRcvDrop={}, "
        "pktSent={}, pktSndLoss={}, pktRetrans={}, pktSndDrop={}, unknown={}, loss=(r:{},s:{})",
        now.publishers + now.players, now.publishers, now.players, links(&LinkTotals::received), links(&LinkTotals::receive_lost),
        links(&LinkTotals::receive_retransmitted), links(&LinkTotals::receive_dropped), links(&LinkTotals::sent),
        links(&LinkTotals::send_lost), links(&LinkTotals::retransmitted), links(&LinkTotals::send_dropped),
        now.port.strangers - then.port.strangers, now.lost - then.lost, now.unsent - then.unsent);
}

}  // namespace live::session::srt
