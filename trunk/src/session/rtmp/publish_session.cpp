#include "session/rtmp/publish_session.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "session/common/join.hpp"

namespace live::session::rtmp {

namespace rtmp = engine::rtmp;

namespace {

constexpr MediaKind kind_of(wire::rtmp::MessageType type) {
    using wire::rtmp::MessageType;
    return type == MessageType::video ? MediaKind::video : type == MessageType::audio ? MediaKind::audio : MediaKind::data;
}

}  // namespace

PublishSession::PublishSession(Peer& peer, const StreamPlan& plan, const RtmpOptions& options,
                               std::unique_ptr<media::Publication> publication, const Log& log)
    : peer_(peer),
      plan_(plan),
      options_(options),
      publication_(std::move(publication)),
      ingest_(*publication_, plan.play, plan.publish, log),
      log_(log),
      idle_(Ref<media::Source>(&publication_->source())),
      silent_since_(io::now()) {
    publication_->set_can_confirm();
}

std::chrono::milliseconds PublishSession::tick() const {
    using std::chrono::milliseconds;
    if (options_.min_latency)
        return milliseconds::zero();
    if (plan_.publish.merged_read)
        return plan_.publish.merged_read_latency;
    const bool nobody_waits = !publication_->source().is_awaited() && plan_.play.mw_latency >= kTick;
    return nobody_waits && got_media_ ? kTick : milliseconds::zero();
}

Result<void> PublishSession::run(io::Deadline deadline) {
    const io::Urgent urgent;
    announce();
    TRY(peer_.write_output(deadline));
    TRY(peer_.set_no_delay(options_.tcp_nodelay));
    for (;;) {
        if (TRY(handle_events(deadline)) == Step::stopped)
            return {};
        if (farewell_ != nullptr)
            tell_to_leave();
        TRY(peer_.write_output(deadline));
        TRY(check_idle());
        const auto patience = got_media_ ? plan_.publish.normal_timeout : plan_.publish.first_packet_timeout;
        const auto due = [&] { return deadline.sooner(io::Deadline::at(io::silence_from(silent_since_) + patience)); };
        const auto received = receive(due());
        if (!publication_->is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (!received.ok() && received.code() == Errc::timed_out && io::now() < due().when())
            continue;  // the process did not run meanwhile
        if (!received.ok() && received.code() == Errc::timed_out)
            return Error(Errc::timed_out, fmt::format("no media for {} ms", patience.count()));
        TRY(received);
    }
}

void PublishSession::announce() {
    LOG_INFO_REPEATED(log_, "start publish mr={}/{}, p1stpt={}, pnt={}, tcp_nodelay={}", plan_.publish.merged_read ? 1 : 0,
                      plan_.publish.merged_read_latency.count(), plan_.publish.first_packet_timeout.count(),
                      plan_.publish.normal_timeout.count(), options_.tcp_nodelay ? 1 : 0);
}

void PublishSession::ask_to_leave(std::string reason) {
    farewell().reason = std::move(reason);
    publication_->evicted().raise();  // wakes the fiber, which sees that the stream was not taken over
}

void PublishSession::ask_to_reconnect(std::string tc_url) {
    farewell().reconnect_url = std::move(tc_url);
    publication_->evicted().raise();
}

PublishSession::Farewell& PublishSession::farewell() {
    if (farewell_ == nullptr)
        farewell_ = std::make_unique<Farewell>();
    return *farewell_;
}

// Encoders act on an error; most of them only log a plain status.
void PublishSession::tell_to_leave() {
    const auto farewell = std::exchange(farewell_, nullptr);
    if (farewell->reconnect_url)
        peer_.engine().request_reconnect(*farewell->reconnect_url, "this server is about to stop");
    if (farewell->reason.empty())
        return;
    peer_.engine().send_status(rtmp::StatusLevel::error, "NetConnection.Connect.AppShutdown", farewell->reason);
    LOG_INFO(log_, "the publisher is asked to leave: {}", farewell->reason);
}

// Once. Only the operator of the encoder can change its settings.
void PublishSession::warn_of_b_frames() {
    const media::BridgeOptions& bridge = plan_.play.bridge;
    if (b_frames_warned_ || !bridge.rtmp_to_rtc || bridge.keep_bframe || !publication_->source().tracks().has_b_frames())
        return;
    b_frames_warned_ = true;
    peer_.engine().send_status(rtmp::StatusLevel::warning, "NetStream.Publish.BFrames",
                               bridge.encodes_bframes ? "the stream has B-frames: it is encoded again for WebRTC players; set 0 "
                                                        "B-frames in the encoder"
                                                      : "the stream has B-frames, which are left out for WebRTC players; set 0 "
                                                        "B-frames in the encoder");
}

Result<void> PublishSession::receive(io::Deadline deadline) {
    if (io::now() >= deadline.when())
        return Error(Errc::timed_out, "silent");
    const bool goes_on = std::exchange(more_, false);
    if (publication_->is_asked()) {
        // A new publisher waits until this session has read all input that has arrived.
    } else if (goes_on) {
        TRY(let_others_run(deadline));
    } else if (const auto pause = tick(); pause > std::chrono::milliseconds::zero()) {
        peer_.forget();
        // The window is half of the buffer. The kernel throttles a publisher that fills it, and enlarges it on demand.
        const auto window = [this] { return peer_.receive_buffer() / 2; };
        TRY(pause_until(io::Deadline::at(ticks_.next(io::now(), pause, std::exchange(tick_bytes_, 0), window))));
        if (!publication_->is_current() || farewell_ != nullptr)
            return {};
    }
    publication_->source().prefetch();
    auto piece = TRY(peer_.read_piece());
    tick_bytes_ += piece.bytes;
    if (piece.bytes == 0)
        publication_->confirm();
    if (piece.bytes == 0 && !goes_on) {
        const auto ready = TRY(peer_.stream().wait_ready(io::Interest::readable, &publication_->evicted(), deadline));
        if (ready.timed_out)
            return Error(Errc::timed_out, "silent");
        if (ready.readable)
            piece = TRY(peer_.read_piece());
        tick_bytes_ = 0;
    }
    more_ = piece.more;
    return {};
}

// Waits until the tick, or until evicted() is raised: by the request of a new publisher, by a takeover or at the end of
// this session.
Result<void> PublishSession::pause_until(io::Deadline tick) {
    const auto waited = io::wait(publication_->evicted(), tick);
    return waited.ok() || waited.code() == Errc::timed_out ? Result<void>() : waited;
}

// Yields when this fiber has run for long enough. Readers can see everything received so far.
Result<void> PublishSession::let_others_run(io::Deadline deadline) {
    if (!io::is_turn_over())
        return {};
    publication_->source().flush();
    return io::yield(deadline);
}

Result<PublishSession::Step> PublishSession::handle_events(io::Deadline deadline) {
    // Small enough for one-byte messages, large enough not to read the clock for each.
    constexpr std::size_t kMessagesAtOnce = 64;
    media::Source& source = publication_->source();
    source.set_arrival(io::now());
    std::vector<rtmp::GotMedia> media = peer_.engine().take_media();
    std::size_t taken = 0;
    for (rtmp::GotMedia& message : media) {
        if (const auto kind = kind_of(message.type); kind == MediaKind::data)
            ingest_.push_data(message.timestamp_ms, std::move(message.payload));
        else
            ingest_.push_body(kind, message.timestamp_ms, std::move(message.payload));
        if (!source.backlog().empty())
            TRY(encode_rest(source, deadline));
        if (++taken % kMessagesAtOnce == 0)
            TRY(let_others_run(deadline));
        if (!publication_->is_current())
            break;
    }
    if (!media.empty()) {
        got_media_ = true;
        silent_since_ = io::now();
        source.flush();
        warn_of_b_frames();
    }
    while (publication_->is_current()) {
        const auto event = peer_.engine().poll_event();
        if (!event)
            break;
        if (std::holds_alternative<rtmp::StoppedPublishing>(*event))
            return Step::stopped;  // further events belong to the next session
        if (std::holds_alternative<rtmp::StreamDeleted>(*event))
            return Error(Errc::closed, "the client deleted the stream");
    }
    return Step::go_on;
}

Result<void> PublishSession::check_idle() {
    const auto limit = plan_.publish.kickoff_for_idle;
    if (limit > std::chrono::seconds::zero() && idle_.length() >= limit)
        return Error(Errc::denied, fmt::format("no player for {} s (kickoff_for_idle)", limit.count()));
    return {};
}

}  // namespace live::session::rtmp
