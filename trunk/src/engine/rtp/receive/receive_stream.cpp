#include "engine/rtp/receive/receive_stream.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::rtp {

namespace {

constexpr std::chrono::milliseconds kReorderWait = 100ms;  // for packets that are not requested
constexpr std::chrono::milliseconds kRepairWaitMin = 500ms;
constexpr std::chrono::milliseconds kRepairWaitMax = 2s;
constexpr std::chrono::milliseconds kRateSpan = 500ms;
constexpr std::uint64_t kRepairAheadMax = 128;  // a repair of a packet not yet known to be missing

// Long enough for several attempts: at 5 % loss each way, one in ten fails.
std::chrono::milliseconds wait_of(const ReceiveStream::Options& options) {
    if (!options.has_nack)
        return kReorderWait;
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(8 * options.round_trip) + 200ms;
    return std::clamp(wait, kRepairWaitMin, kRepairWaitMax);
}

NackGenerator make_nacks(const ReceiveStream::Options& options) {
    NackGenerator nacks({.give_up = wait_of(options), .requests_max = 12});
    nacks.set_round_trip(options.round_trip);
    return nacks;
}

}  // namespace

ReceiveStream::ReceiveStream(Options options, TimePoint now)
    : clock(options.clock_rate),
      options_(std::move(options)),
      reception_(options_.clock_rate),
      nacks_(make_nacks(options_)),
      buffer_(wait_of(options_)),
      received_at_(now),
      span_(now) {}

bool ReceiveStream::receive(TimePoint now, const wire::rtp::Packet& packet, Origin origin, Use use, std::size_t bytes) {
    received_at_ = now;
    count_rate(now, bytes);
    std::uint64_t sequence = 0;
    if (origin == Origin::stream) {
        const auto number = number_of(now, packet, use);
        if (!number)
            return false;
        sequence = *number;
    } else {
        sequence = reception_.widen(packet.sequence);
        if (sequence > reception_.highest() + kRepairAheadMax)
            return false;
    }
    if (use == Use::watch)
        return true;
    nacks_.received(now, sequence);
    push(now, sequence, packet);
    return true;
}

ReceiveStream::Received ReceiveStream::receive_in_order(TimePoint now, const wire::rtp::Packet& packet, std::size_t bytes) {
    received_at_ = now;
    count_rate(now, bytes);
    const auto sequence = number_of(now, packet, Use::forward);
    if (!sequence)
        return {};
    nacks_.received(now, *sequence);
    if (buffer_.pass(*sequence))
        return {true, sequence};
    push(now, *sequence, packet);
    return {true};
}

std::optional<std::uint64_t> ReceiveStream::number_of(TimePoint now, const wire::rtp::Packet& packet, Use use) {
    const auto number = reception_.received(now, packet.sequence, packet.timestamp);
    if (!number)
        return std::nullopt;
    if (number->has_restarted) {
        begin_anew();
        has_restarted_ = use == Use::forward;
    }
    return number->sequence;
}

void ReceiveStream::push(TimePoint now, std::uint64_t sequence, const wire::rtp::Packet& packet) {
    buffer_.push(now, {.sequence = sequence,
                       .payload = Slice::copy_of(packet.payload),
                       .timestamp = packet.timestamp,
                       .marker = packet.marker});
}

std::uint64_t ReceiveStream::gap_before(std::uint64_t sequence) {
    const std::uint64_t gap = popped_ ? sequence - *popped_ - 1 : 0;
    popped_ = sequence;
    return gap;
}

void ReceiveStream::begin_anew() {
    options_.round_trip = nacks_.round_trip();
    given_up_before_ = given_up();
    nacks_ = make_nacks(options_);
    buffer_ = JitterBuffer(wait_of(options_));
    popped_.reset();
}

void ReceiveStream::stop() {
    begin_anew();
    has_restarted_ = false;
}

wire::rtcp::ReportBlock ReceiveStream::report(TimePoint now) {
    auto block = reception_.report();
    block.ssrc = options_.ssrc;
    clock.fill(block, now);
    return block;
}

void ReceiveStream::count_rate(TimePoint now, std::size_t bytes) {
    if (now - span_ >= kRateSpan) {
        last_bits_ = now - span_ < 2 * kRateSpan ? span_bits_ : 0;
        span_bits_ = 0;
        span_ = now;
    }
    span_bits_ += bytes * 8;
}

std::uint64_t ReceiveStream::rate(TimePoint now) const {
    const std::chrono::duration<double> time = (now - span_) + kRateSpan;
    return static_cast<std::uint64_t>(static_cast<double>(span_bits_ + last_bits_) / time.count());
}

}  // namespace live::engine::rtp
