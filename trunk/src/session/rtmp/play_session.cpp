#include "session/rtmp/play_session.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/log_format.hpp"
#include "io/loop.hpp"
#include "session/common/flush.hpp"

namespace live::session::rtmp {

namespace rtmp = engine::rtmp;

PlaySession::PlaySession(Peer& peer, const StreamPlan& plan, FanOut& fan_out, Ref<media::Source> source,
                         std::chrono::milliseconds duration, const Log& log)
    : peer_(peer),
      plan_(plan),
      fan_out_(fan_out),
      cursor_(std::move(source), media::RunFormat()),
      duration_(duration),
      log_(log) {}

PlaySession::~PlaySession() = default;

Result<void> PlaySession::run(io::Deadline deadline) {
    const auto& play = plan_.play;
    LOG_INFO(log_, "start play smi={}ms, mw_sleep={}, mw_msgs={}, realtime={}, tcp_nodelay={}",
             std::chrono::duration_cast<std::chrono::milliseconds>(play.send_min_interval).count(), play.mw_latency.count(),
             play.mw_msgs, plan_.rtmp.min_latency ? 1 : 0, plan_.rtmp.tcp_nodelay ? 1 : 0);
    if (cursor_.source().chunk_size() != peer_.engine().chunk_size())
        peer_.engine().set_chunk_size(cursor_.source().chunk_size());
    TRY(peer_.write_output(deadline));
    peer_.engine().release_buffers();
    io::TcpStream* tcp = peer_.tcp();
    if (tcp == nullptr || play.send_min_interval > std::chrono::microseconds::zero() ||
        duration_ > std::chrono::milliseconds::zero())
        return run_on_own_beat(deadline);
    TRY(prepare_socket(*tcp));
    Seat seat(*tcp, cursor_, handed_back_);
    auto ended = run_with_cohort(*tcp, seat, deadline);
    fan_out_.leave(seat);
    return ended;
}

// The kernel's share of a player is bounded too: what merges into one write at 4 Mbps, and half of that unsent.
Result<void> PlaySession::prepare_socket(io::TcpStream& tcp) {
    constexpr std::size_t kSendBufferMin = 128 * 1024;
    constexpr std::size_t kNotSentMin = 64 * 1024;
    const auto merged = static_cast<std::size_t>(plan_.play.mw_latency.count()) * 4000 / 8;
    const std::size_t buffer = std::max(merged, kSendBufferMin);
    TRY(tcp.set_send_buffer(buffer));
    TRY(tcp.set_not_sent_lowat(std::max(buffer / 2, kNotSentMin)));
    LOG_DEBUG(log_, "SO_SNDBUF={} buffer={}ms", buffer, plan_.play.mw_latency.count());
    return {};
}

Result<void> PlaySession::run_with_cohort(io::TcpStream& tcp, Seat& seat, io::Deadline deadline) {
    TRY(send_now(tcp, seat));
    io::trim_stack();
    for (;;) {
        const auto interest = blocked_ ? io::Interest::both : io::Interest::readable;
        const auto ready = TRY(tcp.wait_ready(interest, &handed_back_, deadline));
        bool send = ready.writable || ready.signalled;
        if (ready.readable) {
            TRY(peer_.read_available());
            const std::uint32_t before = answers_;
            if (TRY(handle_events(&seat)) == Step::stopped)
                return {};
            send = send || answers_ != before;
        }
        if (send)
            TRY(send_now(tcp, seat));
        io::trim_stack();  // reading and sending went deeper than waiting does
    }
}

// Everything this player can have; then the cohort goes on.
Result<void> PlaySession::send_now(io::TcpStream& tcp, Seat& seat) {
    fan_out_.leave(seat);
    const Flushed flushed = flush(tcp, cursor_, peer_.traffic().sent_bytes);
    if (flushed == Flushed::gone)
        return Error(Errc::closed, "the player has gone");
    blocked_ = flushed == Flushed::full;
    if (blocked_)
        return {};
    if (paused_) {
        cursor_.set_lagging(true);  // its place is kept, within the source's bounds
        return {};
    }
    return fan_out_.join(seat);
}

Result<PlaySession::Step> PlaySession::handle_events(Seat* seat) {
    Step step = Step::go_on;
    while (auto event = peer_.engine().poll_event()) {
        if (const auto* pause = std::get_if<rtmp::PauseChanged>(&*event)) {
            peer_.engine().accept_pause(pause->paused);
            if (seat != nullptr)
                fan_out_.leave(*seat);
            paused_ = pause->paused;
            cursor_.set_paused(paused_);
        } else if (std::holds_alternative<rtmp::StoppedPlaying>(*event)) {
            step = Step::stopped;
        } else if (std::holds_alternative<rtmp::StreamDeleted>(*event)) {
            return Error(Errc::closed, "the client deleted the stream");
        }
    }
    const std::vector<std::uint8_t> answer = peer_.take_output();
    if (answer.empty())
        return step;
    // The answer goes between two messages, which only this player's own cursor knows to do.
    if (seat != nullptr)
        fan_out_.leave(*seat);
    cursor_.add_control(answer);
    ++answers_;
    return step;
}

Result<void> PlaySession::run_on_own_beat(io::Deadline deadline) {
    constexpr std::chrono::milliseconds kBeatMin{10};
    const auto gap = plan_.play.send_min_interval;
    const auto window = std::max(plan_.play.mw_latency, kBeatMin);
    cursor_.set_lagging(true);  // this fiber suspends between any two bytes
    TimePoint due = io::now();
    for (;;) {
        const auto readable = peer_.stream().wait_readable(deadline.sooner(io::Deadline::at(due)));
        if (readable.ok()) {
            TRY(peer_.read_available());  // over TLS, part of a record counts as readable: a read that waits would stop the media
            if (TRY(handle_events(nullptr)) == Step::stopped)
                return {};
        } else if (readable.code() != Errc::timed_out) {
            return readable;
        }
        if (io::now() < due)
            continue;
        const bool more = TRY(send_some(deadline));
        due = io::now() + (gap > gap.zero() ? std::chrono::duration_cast<Duration>(gap)
                           : more           ? Duration::zero()
                                            : Duration(window));
        if (duration_ > duration_.zero() && cursor_.played() >= duration_)
            return Error(Errc::closed, fmt::format("played the {} ms asked for", duration_.count()));
    }
}

// One write of this player's own: a copy, because the run may move on while the write waits. True: there is more.
Result<bool> PlaySession::send_some(io::Deadline deadline) {
    constexpr std::size_t kWriteMax = 64 * 1024;
    std::array<::iovec, 8> parts;
    const bool one_message = plan_.play.send_min_interval > std::chrono::microseconds::zero();
    const auto batch = one_message ? cursor_.take_message(parts) : cursor_.take(parts);
    std::vector<std::uint8_t> copy;
    const std::size_t wanted = one_message ? batch.bytes : std::min(batch.bytes, kWriteMax);
    copy.reserve(wanted);
    for (std::size_t i = 0; i < batch.spans && copy.size() < wanted; ++i) {
        const auto* data = static_cast<const std::uint8_t*>(parts[i].iov_base);
        copy.insert(copy.end(), data, data + std::min(parts[i].iov_len, wanted - copy.size()));
    }
    if (copy.empty())
        return false;
    cursor_.advance(copy.size());
    peer_.traffic().sent_bytes += copy.size();
    const std::array whole{io::as_part(copy)};
    TRY(peer_.stream().write_all(whole, deadline));
    return true;
}

}  // namespace live::session::rtmp
