#include "session/rtsp/udp_sender.hpp"

#include <span>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtcp/report.hpp"

namespace live::session::rtsp {

UdpSender::~UdpSender() { leave_cohort(); }

bool UdpSender::send_some(media::WireCursor& cursor, const Ref<media::Source>& source) {
    if (has_cohort())
        return false;
    DatagramRun& run = fan_out_.scratch();
    run.begin_with(begun_);
    const bool has_more = run.take(cursor, next_piece_bytes(cursor));
    if (!run.empty())
        fan_out_.send(run, member_);
    begun_ = std::vector(run.begun().begin(), run.begun().end());
    if (has_more || !begun_.empty() || !fan_out_.join(member_, cursor, source))
        return has_more;
    joined_with_ = &cursor;
    return false;
}

void UdpSender::leave_cohort() {
    if (has_cohort())
        begun_ = fan_out_.leave(member_, *joined_with_);
}

void UdpSender::send_goodbye(std::uint32_t ssrc_base) {
    for (std::size_t channel = 1; channel < DatagramRun::kChannels; channel += 2) {
        if (!member_.addresses[channel])
            continue;
        ByteWriter out;
        const auto ssrc = ssrc_base + static_cast<std::uint32_t>(channel / 2);
        wire::rtcp::write(out, wire::rtcp::ReceiverReport{ssrc, {}});
        wire::rtcp::write(out, wire::rtcp::Goodbye{{ssrc}});
        const io::GsoBatch batch{out.written(), out.size(), *member_.addresses[channel], {}};
        ports_.send(UdpPorts::Port::rtcp, std::span(&batch, 1));
    }
}

}  // namespace live::session::rtsp
