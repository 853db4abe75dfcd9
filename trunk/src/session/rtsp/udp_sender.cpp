#include "session/rtsp/udp_sender.hpp"

#include <span>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtcp/report.hpp"

namespace live::session::rtsp {

UdpSender::~UdpSender() { leave_cohort(); }

bool UdpSender::send_some(media::WireCursor& cursor, const Ref<media::Source>& source) {
    if (has_cohort())
        return false;
    const bool has_more = run_.take(cursor, next_piece_bytes(cursor));
    if (!run_.empty())
        fan_out_.send(run_, member_);
    if (has_more || !run_.is_at_border() || !fan_out_.join(member_, cursor, source))
        return has_more;
    joined_with_ = &cursor;
    run_.release_memory();
    return false;
}

void UdpSender::leave_cohort() {
    if (has_cohort())
        fan_out_.leave(member_, *joined_with_, run_);
}

void UdpSender::send_goodbye(std::uint32_t ssrc_base) {
    for (std::size_t channel = 1; channel < DatagramRun::kChannels; channel += 2) {
        if (!member_.addresses[channel])
            continue;
        ByteWriter out;
        wire::rtcp::write(out, wire::rtcp::ReceiverReport{ssrc_base, {}});
        wire::rtcp::write(out, wire::rtcp::Goodbye{{ssrc_base, ssrc_base + 1}});
        const io::GsoBatch batch{out.written(), out.size(), *member_.addresses[channel], {}};
        ports_.send(UdpPorts::Port::rtcp, std::span(&batch, 1));
    }
}

}  // namespace live::session::rtsp
