#include "session/rtmp/play_session.hpp"

#include <utility>

#include "base/log/log_format.hpp"

namespace live::session::rtmp {

namespace rtmp = engine::rtmp;

PlaySession::PlaySession(Peer& peer, const StreamPlan& plan, const RtmpOptions& options, FanOut& fan_out,
                         Ref<media::Source> source, media::WireFormat format, std::optional<media::Sequence> from,
                         std::chrono::milliseconds duration, const Log& log)
    : peer_(peer),
      plan_(plan),
      options_(options),
      cursor_(std::move(source), format, {}, from),
      player_(peer.stream(), cursor_, fan_out, plan.play, *this, peer.traffic().sent_bytes, log),
      log_(log) {
    player_.set_duration(duration);
    player_.set_no_delay(options.tcp_nodelay);
    if (!format.is_relayed())
        return;
    player_.set_window(plan.play.relay_mw_latency);
    end_watch_ = std::make_unique<EndWatch>(Ref<media::Source>(&cursor_.source()), player_.wake());
}

Result<void> PlaySession::run(io::Deadline deadline) {
    const auto& play = plan_.play;
    const auto window = end_watch_ ? play.relay_mw_latency : play.mw_latency;
    LOG_INFO_REPEATED(log_, "start play smi={}ms, mw_sleep={}, mw_msgs={}, realtime={}, tcp_nodelay={}",
                      std::chrono::duration_cast<std::chrono::milliseconds>(play.send_min_interval).count(), window.count(),
                      play.mw_msgs, options_.min_latency ? 1 : 0, options_.tcp_nodelay ? 1 : 0);
    if (cursor_.source().wire_logs().chunk_size() != peer_.engine().chunk_size())
        peer_.engine().set_chunk_size(cursor_.source().wire_logs().chunk_size());
    // Input that arrived together with the play command.
    if (TRY(receive()) == Step::stopped)
        return {};
    TRY(peer_.write_output(deadline));
    peer_.engine().release_buffers();
    return player_.run(deadline);
}

Result<PlayerProtocol::Step> PlaySession::on_readable() {
    TRY(peer_.read_piece());
    const Step step = TRY(receive());
    TRY(player_.answer(peer_.take_output()));
    return step;
}

void PlaySession::ask_to_reconnect(std::string tc_url) {
    reconnect_url_ = std::make_unique<std::string>(std::move(tc_url));
    player_.wake().raise();
}

Result<void> PlaySession::on_caught_up() {
    if (const auto url = std::exchange(reconnect_url_, nullptr)) {
        peer_.engine().request_reconnect(*url, "this server is about to stop");
        TRY(player_.answer(peer_.take_output()));
    }
    if (!end_watch_ || !end_watch_->take_ended())
        return {};
    peer_.engine().send_status(rtmp::StatusLevel::status, "NetStream.Play.UnpublishNotify", "the stream has ended");
    return player_.answer(peer_.take_output());
}

Result<PlayerProtocol::Step> PlaySession::receive() {
    while (auto event = peer_.engine().poll_event()) {
        if (const auto* pause = std::get_if<rtmp::PauseChanged>(&*event)) {
            peer_.engine().accept_pause(pause->paused);
            player_.set_paused(pause->paused);
        } else if (std::holds_alternative<rtmp::StoppedPlaying>(*event)) {
            return Step::stopped;  // what follows belongs to the next session
        } else if (std::holds_alternative<rtmp::StreamDeleted>(*event)) {
            return Error(Errc::closed, "the client deleted the stream");
        }
    }
    return Step::go_on;
}

}  // namespace live::session::rtmp
