#include "engine/srt/transfer/send_side.hpp"

#include <algorithm>
#include <utility>

#include "engine/srt/transfer/sequence.hpp"

namespace live::engine::srt {

namespace {

constexpr unsigned kProbesMax = 6;
constexpr std::size_t kDatagramOverhead = kHeaderBytes + 28;

}  // namespace

SendSide::SendSide(std::uint64_t first, const Limits& limits)
    : entries_(first),
      next_(first),
      acknowledged_to_(first),
      window_end_(first + std::max<std::uint64_t>(limits.peer_window, kInFlightMin)),
      limits_(limits) {}

bool SendSide::push(Micros now, const Slice& payload, KeyFlag key) {
    drop_late(now);
    if (bytes_ + payload.size() > limits_.bytes || entries_.size() * kPayloadBytesMax > limits_.bytes) {
        ++counts_.dropped;
        return false;
    }
    bytes_ += payload.size();
    input_.add(now, payload.size() + kDatagramOverhead);
    entries_.push_back({.payload = payload, .origin = now, .key = key});
    return true;
}

bool SendSide::handle_ack(Micros now, const Ack& ack) {
    const std::uint64_t position = widen_sequence(ack.next_sequence, next_);
    if (position > next_)
        return false;
    if (position > acknowledged_to_)
        counts_.acknowledged += position - std::exchange(acknowledged_to_, position);
    if (ack.path)
        window_end_ = std::max(window_end_, position + std::max<std::uint64_t>(ack.path->buffer_packets, kInFlightMin));
    if (position <= entries_.begin())
        return true;
    if (const Entry& newest = entries_[position - 1]; position <= entries_.end() && !newest.is_resent)
        ack_delay_ = now - newest.sent_at;
    while (entries_.begin() < position)
        pop();
    if (ack.path)
        window_end_ = position + std::max<std::uint64_t>(ack.path->buffer_packets, kInFlightMin);
    forget_old_requests();
    progress_at_ = now;
    probes_ = 0;
    return true;
}

bool SendSide::handle_nak(Micros now, const std::vector<SequenceRange>& ranges, const RoundTrip& round_trip) {
    // However often a range is repeated, no more work than each packet once.
    std::uint64_t budget = next_ - std::min(next_, entries_.begin()) + kDropRequestsMax;
    bool is_valid = true;
    for (const auto& [narrow_first, narrow_last] : ranges) {
        const std::uint64_t first = widen_sequence(narrow_first, next_);
        const std::uint64_t last = widen_sequence(narrow_last, next_);
        if (first > last || last >= next_) {
            is_valid = false;
            continue;
        }
        if (last >= entries_.begin())
            counts_.lost += last - std::max(first, entries_.begin()) + 1;
        if (first < entries_.begin() && drop_requests_.size() < kDropRequestsMax)
            drop_requests_.emplace_back(first, std::min(last, entries_.begin() - 1));
        for (std::uint64_t at = std::max(first, entries_.begin()); at <= last && budget > 0; ++at, --budget)
            request(now, at, round_trip);
    }
    return is_valid;
}

void SendSide::request(Micros now, std::uint64_t position, const RoundTrip& round_trip) {
    Entry& entry = entries_[position];
    // A retransmission that is still under way is not repeated.
    if (entry.is_requested || entry.is_copied || (entry.is_resent && now - entry.sent_at < round_trip.resend_interval()))
        return;
    entry.is_requested = true;
    entry.copies = spend_copies(now, entry, round_trip);
    requested_.push_back(position);
}

std::uint8_t SendSide::spend_copies(Micros now, const Entry& entry, const RoundTrip& round_trip) {
    const Micros age = now - entry.origin;
    const Micros next_round = round_trip.patience() + round_trip.nak_interval();
    const bool is_last_chance = age < limits_.latency && age + next_round > limits_.latency;
    const unsigned wanted = entry.is_resent || is_last_chance ? kCopiesMax - 1 : 0;
    const unsigned copies = std::min(wanted, spare_copies_ / kPacketsPerCopy);
    spare_copies_ -= copies * kPacketsPerCopy;
    return static_cast<std::uint8_t>(copies);
}

void SendSide::handle_timeout(Micros now, const RoundTrip& round_trip) {
    drop_late(now);
    if (now < probe_at(round_trip))
        return;
    // The end of a burst was lost, or all acknowledgements of it: the peer detects that only from a repeated last packet.
    progress_at_ = now;
    probes_ = std::min(probes_ + 1, kProbesMax);
    Entry& entry = entries_[next_ - 1];
    if (!entry.is_requested) {
        entry.is_requested = true;
        requested_.push_back(next_ - 1);
    }
}

Micros SendSide::next_timeout(const RoundTrip& round_trip) const {
    Micros next = probe_at(round_trip);
    if (limits_.too_late_drop && !entries_.empty())
        next = std::min(next, entries_[entries_.begin()].origin + kept_for());
    return next;
}

Micros SendSide::probe_at(const RoundTrip& round_trip) const {
    if (entries_.begin() == next_ || !requested_.empty())
        return Micros::max();
    return progress_at_ + (round_trip.patience() + 2 * ReceiveSide::kAckInterval) * (1 << probes_);
}

bool SendSide::may_send_new() const {
    return next_ < entries_.end() && (next_ < window_end_ || next_ - entries_.begin() < kInFlightMin);
}

Micros SendSide::next_send() const {
    const Micros paced = std::chrono::ceil<Micros>(paced_until_);
    if (may_send_new())
        return paced;
    const Micros again = std::max(paced, budget_.affordable_at());
    if (!requested_.empty())
        return again;
    return copies_.empty() ? Micros::max() : std::max(again, copies_.front().due);
}

std::optional<SendSide::Outgoing> SendSide::next(Micros now) {
    forget_old_requests();
    if (now < next_send())
        return std::nullopt;
    // A retransmission over the budget waits in its place; new packets overtake it.
    const bool may_resend = now >= budget_.affordable_at();
    if (!requested_.empty() && may_resend) {
        const std::uint64_t position = requested_.front();
        requested_.pop_front();
        Entry& entry = entries_[position];
        entry.is_requested = false;
        entry.is_resent = true;
        if (entry.copies > 0 && !entry.is_copied) {
            entry.is_copied = true;
            copies_.push_back({position, now + kCopyDistance});
        }
        return resend(now, position);
    }
    if (!copies_.empty() && copies_.front().due <= now && may_resend) {
        const std::uint64_t position = copies_.front().position;
        copies_.pop_front();
        Entry& entry = entries_[position];
        entry.is_copied = --entry.copies > 0;
        if (entry.is_copied)
            copies_.push_back({position, now + kCopyDistance});
        return resend(now, position);
    }
    if (!may_send_new())
        return std::nullopt;
    progress_at_ = now;
    spare_copies_ = std::min(spare_copies_ + 1, kSpareCopiesMax * kPacketsPerCopy);
    ++counts_.sent;
    counts_.sent_bytes += entries_[next_].payload.size();
    budget_.add_new(now, entries_[next_].payload.size());
    return send(now, next_++);
}

SendSide::Outgoing SendSide::send(Micros now, std::uint64_t position) {
    Entry& entry = entries_[position];
    entry.sent_at = now;
    const auto bytes = static_cast<std::int64_t>(entry.payload.size() + kDatagramOverhead);
    const std::chrono::nanoseconds period{bytes * 1'000'000'000 / bandwidth()};
    paced_until_ = std::max<std::chrono::nanoseconds>(paced_until_, now - kBurst) + period;
    return {.position = position, .payload = &entry.payload, .origin = entry.origin, .key = entry.key};
}

std::int64_t SendSide::bandwidth() const {
    return limits_.bandwidth > 0 ? limits_.bandwidth
                                 : std::clamp(input_.bytes_per_second() * kInputTimes, kBandwidthMin, kBandwidthMax);
}

SendSide::Outgoing SendSide::resend(Micros now, std::uint64_t position) {
    Outgoing out = send(now, position);
    ++counts_.retransmitted;
    counts_.retransmitted_bytes += out.payload->size();
    budget_.spend(now, out.payload->size() + kDatagramOverhead);
    out.is_retransmitted = true;
    return out;
}

std::optional<ControlOutput> SendSide::next_output() {
    if (drop_requests_.empty())
        return std::nullopt;
    const auto [first, last] = drop_requests_.back();
    drop_requests_.pop_back();
    const auto contents = write_drop_request({narrow_sequence(first), narrow_sequence(last)});
    return ControlOutput{ControlType::drop_request, 0, {contents.begin(), contents.end()}};
}

void SendSide::drop_late(Micros now) {
    if (!limits_.too_late_drop)
        return;
    while (!entries_.empty() && now - entries_[entries_.begin()].origin >= kept_for()) {
        ++counts_.dropped;
        pop();
    }
    forget_old_requests();
}

void SendSide::pop() {
    bytes_ -= entries_.pop_front().payload.size();
    next_ = std::max(next_, entries_.begin());
}

void SendSide::forget_old_requests() {
    while (!requested_.empty() && requested_.front() < entries_.begin())
        requested_.pop_front();
    while (!copies_.empty() && copies_.front().position < entries_.begin())
        copies_.pop_front();
}

}  // namespace live::engine::srt
