#include "session/rtsp/publish_session.hpp"

#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "wire/rtsp/message.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

namespace rtsp = engine::rtsp;

PublishSession::PublishSession(Peer& peer, Context& context, const StreamPlan& plan, media::Publication& publication,
                               MediaInput& input, MemoryBudget::Use& memory)
    : peer_(peer), context_(context), plan_(plan), publication_(publication), input_(input), memory_(memory) {}

PublishSession::~PublishSession() {
    context_.ports.remove(*this);
    memory_.set(0);
}

Result<void> PublishSession::run(io::Deadline deadline) {
    peer_.engine().accept_announce();
    for (;;) {
        const auto event = TRY(peer_.next_event(deadline.sooner(io::Deadline::after(kSetUpLimit))));
        if (!publication_.is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (const auto* asked = std::get_if<rtsp::WantsToSetUp>(&event)) {
            TRY(set_up(*asked));
        } else if (std::holds_alternative<rtsp::WantsToRecord>(event)) {
            peer_.engine().accept_record();
            TRY(peer_.write_output(deadline));
            input_.restart_silence(io::now());
            is_recording_ = true;
            return receive(deadline);
        } else if (std::holds_alternative<rtsp::TornDown>(event)) {
            return peer_.write_output(deadline);
        } else if (std::holds_alternative<rtsp::WantsToAnnounce>(event)) {
            peer_.engine().refuse(wire::rtsp::status::kWrongState);
        }
    }
}

// Media comes from the address of the connection only.
Result<void> PublishSession::set_up(const rtsp::WantsToSetUp& asked) {
    wire::rtsp::Transport transport = asked.transport;
    if (transport.lower == wire::rtsp::Transport::Lower::udp) {
        const auto ip = TRY(peer_.client_ip());
        if (!context_.ports.add(ip, *transport.client_port, *this, asked.track).ok()) {
            peer_.engine().refuse(wire::rtsp::status::kUnsupportedTransport);
            return {};
        }
        transport.server_port = context_.ports.numbers();
    }
    peer_.engine().accept_set_up(transport);
    return {};
}

Result<void> PublishSession::receive(io::Deadline deadline) {
    for (;;) {
        publication_.source().set_arrival(io::now());
        const Step step = TRY(handle_events());
        input_.drain(io::now());
        publication_.source().flush();
        memory_.set(input_.held_bytes());
        TRY(peer_.write_output(deadline));
        if (step == Step::stopped)
            return {};
        TRY(send_reports(deadline));
        if (io::is_turn_over())
            TRY(io::yield(deadline));
        TRY(wait_for_input(deadline));
        if (!publication_.is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (io::now() >= silence_ends())
            return Error(Errc::timed_out, "no media for too long");
    }
}

TimePoint PublishSession::silence_ends() const {
    const auto patience = input_.got_media() ? plan_.publish.normal_timeout : plan_.publish.first_packet_timeout;
    return io::silence_from(input_.silent_since()) + patience;
}

Result<void> PublishSession::wait_for_input(io::Deadline deadline) {
    deadline = deadline.sooner(io::Deadline::at(silence_ends())).sooner(io::Deadline::at(input_.report_at()));
    if (const auto due = input_.next_timeout())
        deadline = deadline.sooner(io::Deadline::at(*due));
    const PacedReads::Of of{peer_.stream(), publication_, input_, plan_, has_media_in_connection()};
    return reads_.next(of, peer_.piece_max(), deadline, [this] { return peer_.borrow_piece(); });
}

bool PublishSession::has_media_in_connection() const {
    for (std::size_t i = 0; i < input_.tracks(); ++i)
        if (const auto* const transport = peer_.engine().transport(i); transport != nullptr && transport->interleaved)
            return true;
    return false;
}

Result<PublishSession::Step> PublishSession::handle_events() {
    Step step = Step::go_on;
    while (publication_.is_current() && step == Step::go_on) {
        const auto event = TRY(peer_.engine().poll_event());
        if (!event)
            break;
        if (const auto* packet = std::get_if<rtsp::GotPacket>(&*event))
            input_.take(packet->track, packet->is_rtcp, packet->bytes, io::now());
        else if (std::holds_alternative<rtsp::TornDown>(*event))
            step = Step::stopped;
        else if (std::holds_alternative<rtsp::WantsToRecord>(*event))
            peer_.engine().accept_record();
        else if (!std::holds_alternative<rtsp::Paused>(*event))
            peer_.engine().refuse(wire::rtsp::status::kWrongState);
    }
    peer_.engine().keep_bytes();
    return step;
}

void PublishSession::on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) {
    if (!is_recording_ || !publication_.is_current())
        return;
    const TimePoint now = io::now();
    peer_.own_traffic().received_bytes += datagram.size();
    publication_.source().set_arrival(now);
    input_.take(track, is_rtcp, datagram, now);
}

void PublishSession::on_datagrams_end() {
    if (!is_recording_)
        return;
    publication_.source().flush();
    // The fiber waits for packets that are missing, and sees a takeover.
    if (input_.next_timeout() || !publication_.is_current())
        publication_.evicted().raise();
}

Result<void> PublishSession::send_reports(io::Deadline deadline) {
    const TimePoint now = io::now();
    if (!input_.take_report_turn(now))
        return {};
    ByteWriter out;
    for (std::size_t i = 0; i < input_.tracks(); ++i) {
        const wire::rtsp::Transport* const transport = peer_.engine().transport(i);
        ByteWriter report;
        input_.write_report(i, now, report);
        if (transport == nullptr || report.size() == 0)
            continue;
        if (transport->client_port) {
            const TransportAddress to{TRY(peer_.client_ip()), transport->client_port->rtcp};
            const io::GsoBatch batch{report.written(), report.size(), to, {}};
            context_.ports.send(UdpPorts::Port::rtcp, std::span(&batch, 1));
        } else {
            wire::rtsp::write_frame(out, static_cast<std::uint8_t>(transport->interleaved->rtcp), report.written());
        }
    }
    if (out.size() == 0)
        return {};
    const std::array parts{io::as_part(out.written())};
    return peer_.stream().write_all(parts, deadline.sooner(io::Deadline::after(Peer::kWriteLimit)));
}

}  // namespace live::session::rtsp
