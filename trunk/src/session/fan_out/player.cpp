#include "session/fan_out/player.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/fan_out/flush.hpp"

namespace live::session {

namespace {

// A write of a player on its own ticks, unless one message is longer.
constexpr std::size_t kWriteMax = 64 * 1024;

// Appends the bytes that the cursor returns at once to `copy`; returns false if there are none. For a player with its own times
// the cursor returns one frame at a time, because the header differs.
bool take_part(media::WireCursor& cursor, bool one_message, std::vector<std::uint8_t>& copy) {
    std::array<::iovec, 8> parts;
    const auto batch = one_message ? cursor.take_message(parts) : cursor.take(parts);
    const std::size_t begin = copy.size();
    const std::size_t end = one_message ? batch.bytes : std::min(begin + batch.bytes, kWriteMax);
    if (end > copy.capacity())
        copy.reserve(begin == 0 ? end : kWriteMax);
    for (std::size_t i = 0; i < batch.spans && copy.size() < end; ++i) {
        const auto* data = static_cast<const std::uint8_t*>(parts[i].iov_base);
        copy.insert(copy.end(), data, data + std::min(parts[i].iov_len, end - copy.size()));
    }
    cursor.advance(copy.size() - begin);
    return copy.size() > begin;
}

}  // namespace

Player::Player(io::Stream& stream, media::WireCursor& cursor, FanOut& fan_out, const media::PlayOptions& options,
               PlayerProtocol& protocol, std::uint64_t& sent_bytes, const Log& log)
    : stream_(stream),
      cursor_(cursor),
      fan_out_(fan_out),
      options_(options),
      protocol_(protocol),
      sent_bytes_(sent_bytes),
      log_(log),
      joined_at_(cursor.wire_log().next() - cursor.behind()) {}

Player::~Player() { leave_cohort(); }

Result<void> Player::run(io::Deadline deadline) {
    auto ended = play(deadline);
    leave_cohort();
    if (cursor_.dropped() > 0)
        log_dropped();
    return ended;
}

// In its own stack frame: the frames above it stay parked for hours.
[[gnu::noinline]] void Player::log_dropped() const {
    LOG_WARN(log_, "this player was too slow: shrinking dropped {} packets in total", cursor_.dropped());
}

Result<void> Player::play(io::Deadline deadline) {
    io::TcpStream* const socket = stream_.carrier();
    if (socket == nullptr || options_.send_min_interval > std::chrono::microseconds::zero() ||
        duration_ > std::chrono::milliseconds::zero())
        return run_on_own_ticks(socket, deadline);
    TRY(prepare_socket(*socket));
    member_.emplace(stream_, cursor_, wake_);
    return run_with_cohort(*socket, deadline);
}

void Player::set_paused(bool paused) {
    leave_cohort();
    paused_ = paused;
    cursor_.set_paused(paused);
}

// Only this player's own cursor can find the place between two messages.
Result<void> Player::answer(Bytes bytes) {
    if (bytes.empty())
        return {};
    leave_cohort();
    TRY(cursor_.add_control(bytes));
    ++answers_;
    return {};
}

std::uint64_t Player::sent_bytes() const { return member_ ? member_->sent_bytes() : cursor_.sent_bytes(); }

ClientFigures Player::figures() const {
    const media::WireLog& wire_log = cursor_.wire_log();
    const media::Ring& ring = cursor_.source().ring();
    const bool is_member = member_ && member_->is_member;
    const media::Sequence at = wire_log.find(is_member ? member_->cohort->position() : cursor_.position());
    ClientFigures figures;
    figures.sent_bytes = sent_bytes();
    figures.is_paused = paused_;
    figures.dropped_packets = cursor_.dropped();
    // Dropping jumps forward; a restart of the source's sequence can move back.
    const media::Sequence taken = std::max(at, joined_at_) - joined_at_;
    figures.delivered_packets = taken - std::min(taken, figures.dropped_packets);
    figures.queued_packets = wire_log.next() - at;
    if (at >= ring.first() && at < ring.next())
        figures.queue_delay = std::max(ring.newest().dts - ring.at(at).dts, MediaTime::zero());
    return figures;
}

void Player::leave_cohort() {
    if (member_)
        fan_out_.leave(*member_);
}

// Bounds the kernel's memory per player too: one merged write at 4 Mbps, and half of that unsent.
Result<void> Player::prepare_socket(io::TcpStream& socket) {
    constexpr std::size_t kSendBufferMin = 128 * 1024;
    constexpr std::size_t kNotSentMin = 64 * 1024;
    const auto merged = static_cast<std::size_t>(options_.mw_latency.count()) * 4000 / 8;
    const std::size_t buffer = std::max(merged, kSendBufferMin);
    TRY(socket.set_send_buffer(buffer));
    TRY(socket.set_not_sent_lowat(std::max(buffer / 2, kNotSentMin)));
    // Else a small frame waits until the one before is acknowledged, which on a quiet connection takes some 40 ms.
    if (window_ == std::chrono::milliseconds::zero())
        no_delay_ = true;
    LOG_DEBUG(log_, "SO_SNDBUF={} buffer={}ms", buffer, options_.mw_latency.count());
    return {};
}

Result<void> Player::run_with_cohort(io::TcpStream& socket, io::Deadline deadline) {
    TRY(send_now());
    if (no_delay_)
        TRY(socket.set_no_delay(*no_delay_));
    io::trim_stack();
    for (;;) {
        if (protocol_.is_over())
            return drain(deadline.sooner(io::Deadline::after(kDrainLimit)));
        const auto interest = blocked_ ? io::Interest::both : io::Interest::readable;
        const auto ready = TRY(stream_.wait_ready(interest, &wake_, deadline));
        bool send = ready.writable || ready.signalled;
        if (ready.readable) {
            const std::uint32_t before = answers_;
            if (TRY(protocol_.on_readable()) == Step::stopped)
                return end_message(deadline);
            send = send || answers_ != before || member_->cohort == nullptr;
        }
        if (send)
            TRY(send_and_answer());
        io::trim_stack();  // reading and sending use more stack than waiting
    }
}

// The protocol may add something to what has been sent.
Result<void> Player::send_and_answer() {
    TRY(send_now());
    const std::uint32_t before = answers_;
    if (!blocked_)
        TRY(protocol_.on_caught_up());
    if (answers_ != before)
        TRY(send_now());
    return {};
}

// Sends everything available; then the cohort continues.
Result<void> Player::send_now() {
    leave_cohort();
    const Flushed flushed = flush(stream_, cursor_, sent_bytes_);
    if (flushed == Flushed::gone)
        return Error(Errc::closed, "the player has gone");
    blocked_ = flushed == Flushed::full;
    if (blocked_)
        return {};
    if (paused_)
        return {};
    return fan_out_.join(*member_, window_);
}

Result<void> Player::drain(io::Deadline deadline) {
    for (;;) {
        leave_cohort();
        const Flushed flushed = flush(stream_, cursor_, sent_bytes_);
        if (flushed == Flushed::gone)
            return Error(Errc::closed, "the player has gone");
        if (flushed == Flushed::all)
            return {};
        if (TRY(stream_.wait_ready(io::Interest::writable, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the player did not take the end of the stream");
    }
}

// The client may continue with another request, which can only begin after a complete message.
Result<void> Player::end_message(io::Deadline deadline) {
    set_paused(true);
    const auto limit = deadline.sooner(io::Deadline::after(kDrainLimit));
    while (TRY(send_some(limit))) {
    }
    return stream_.write_all({}, limit);  // ciphertext that the stream holds
}

Result<void> Player::run_on_own_ticks(io::TcpStream* socket, io::Deadline deadline) {
    if (socket != nullptr && no_delay_)
        TRY(socket->set_no_delay(*no_delay_));
    constexpr std::chrono::milliseconds kTickMin{10};
    const auto gap = options_.send_min_interval;
    const auto window = std::max(window_.value_or(options_.mw_latency), kTickMin);
    TimePoint due = io::now();
    for (;;) {
        const bool is_over = protocol_.is_over();
        const auto readable = stream_.wait_readable(deadline.sooner(io::Deadline::at(due)));
        if (readable.ok()) {
            // Over TLS, part of a record wakes too: a blocking read would stall the media.
            if (TRY(protocol_.on_readable()) == Step::stopped)
                return end_message(deadline);
        } else if (readable.code() != Errc::timed_out) {
            return readable;
        }
        if (io::now() < due)
            continue;
        const bool more = TRY(send_some(deadline));
        if (is_over && !more)
            return {};
        if (!more)
            TRY(protocol_.on_caught_up());
        due = io::now() + (gap > gap.zero() ? std::chrono::duration_cast<Duration>(gap)
                           : more           ? Duration::zero()
                                            : Duration(window));
        if (duration_ > duration_.zero() && cursor_.played() >= duration_)
            return Error(Errc::closed, fmt::format("played the {} ms asked for", duration_.count()));
    }
}

// One write of this player's own: a copy, because the log may move on while the write waits. True: there may be more.
Result<bool> Player::send_some(io::Deadline deadline) {
    std::vector<std::uint8_t> copy;
    const bool one_message = options_.send_min_interval > std::chrono::microseconds::zero();
    while (take_part(cursor_, one_message, copy) && !one_message && copy.size() < kWriteMax) {
    }
    if (copy.empty())
        return false;
    sent_bytes_ += copy.size();
    const std::array whole{io::as_part(copy)};
    TRY(stream_.write_all(whole, deadline));
    return true;
}

}  // namespace live::session
