#include "engine/srt/transfer/receive_side.hpp"

#include <algorithm>
#include <limits>

#include "engine/srt/transfer/sequence.hpp"

namespace live::engine::srt {

namespace {

std::uint32_t clamp_u32(std::int64_t value) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

std::vector<std::uint8_t> nak_contents(const std::vector<PositionRange>& ranges) {
    std::vector<SequenceRange> narrow;
    narrow.reserve(ranges.size());
    for (const auto& [first, last] : ranges)
        narrow.emplace_back(narrow_sequence(first), narrow_sequence(last));
    return write_loss_list(narrow);
}

}  // namespace

void ReceiveSide::insert(Micros now, std::uint64_t position, Micros timestamp, std::optional<Slice> bytes) {
    note_arrival(now, bytes ? bytes->size() : 0);
    const auto gap = buffer_.insert(position, timestamp, std::move(bytes), now);
    if (gap) {
        lost_ += gap->second - gap->first + 1;
        // Gaps that do not fit are requested when they are due again.
        if (nak_.size() < kNakRangesMax)
            nak_.push_back(*gap);
        if (nak_at_ == Micros::max())
            nak_at_ = now + kNakTick;
    }
    note_stored(now);
}

void ReceiveSide::insert_read(Micros now, std::uint64_t position, Micros timestamp, std::size_t size) {
    note_arrival(now, size);
    buffer_.insert_read(position, timestamp, size);
    note_stored(now);
}

void ReceiveSide::note_arrival(Micros now, std::size_t bytes) {
    measure_rate(now);
    ++rate_packets_;
    rate_bytes_ += bytes + kHeaderBytes;
}

void ReceiveSide::note_stored(Micros now) {
    if (buffer_.missing() > 0)
        loses_until_ = now + kLossMemory;
    if (++since_ack_ >= kLightAckPackets) {
        since_ack_ = 0;
        is_light_ack_due_ = true;
    }
    arm_ack(now);
}

void ReceiveSide::give_up(Micros now, PositionRange range) {
    buffer_.give_up(range);
    arm_ack(now);
}

std::optional<ReceivedPayload> ReceiveSide::take(Micros now, const DeliveryClock* clock) {
    auto payload = buffer_.take(now, clock);
    // Skipped packets are acknowledged too, so that the sender forgets them.
    if (payload && payload->skipped > 0)
        arm_ack(now);
    return payload;
}

std::optional<Micros> ReceiveSide::handle_ack_ack(Micros now, std::uint32_t number) {
    while (!acks_.empty()) {
        const SentAck ack = acks_.front();
        // Numbers wrap after years; only their distance matters.
        const auto distance = static_cast<std::int32_t>(number - ack.number);
        if (distance < 0)
            return std::nullopt;
        acks_.pop_front();
        if (distance == 0) {
            confirmed_ = std::max(confirmed_, ack.position);
            return now - Micros(ack.at_us);
        }
    }
    return std::nullopt;
}

void ReceiveSide::handle_timeout(Micros now, const RoundTrip& round_trip) {
    if (now >= ack_at_) {
        is_ack_due_ = buffer_.first_missing() > std::min(acknowledged_, confirmed_);
        ack_at_ = Micros::max();
    }
    if (now < nak_at_)
        return;
    if (buffer_.missing() == 0) {
        nak_at_ = Micros::max();
        return;
    }
    if (nak_.empty())
        nak_ = buffer_.missing_ranges(now, round_trip.nak_interval(), round_trip.late_nak_interval(), kNakRangesMax);
    nak_at_ = now + kNakTick;
}

Micros ReceiveSide::next_timeout() const { return std::min(ack_at_, nak_at_); }

std::optional<ControlOutput> ReceiveSide::next_output(Micros now, const RoundTrip& round_trip) {
    if (is_ack_due_) {
        is_ack_due_ = is_light_ack_due_ = false;
        since_ack_ = 0;
        const Ack ack = make_ack(now, round_trip);
        // Until it is confirmed, it is repeated.
        last_ack_at_ = now;
        ack_at_ = now + std::max(round_trip.patience(), kAckInterval);
        return ControlOutput{ControlType::ack, ack_number_, write_ack(ack)};
    }
    if (is_light_ack_due_) {
        is_light_ack_due_ = false;
        Ack light;
        light.next_sequence = narrow_sequence(buffer_.first_missing());
        return ControlOutput{ControlType::ack, 0, write_ack(light)};
    }
    if (!nak_.empty()) {
        auto contents = nak_contents(nak_);
        nak_.clear();
        return ControlOutput{ControlType::nak, 0, std::move(contents)};
    }
    return std::nullopt;
}

void ReceiveSide::arm_ack(Micros now) { ack_at_ = std::min(ack_at_, std::max(now, last_ack_at_ + kAckInterval)); }

Ack ReceiveSide::make_ack(Micros now, const RoundTrip& round_trip) {
    measure_rate(now);
    acknowledged_ = buffer_.first_missing();
    if (acks_.size() >= kAcksMax)
        acks_.pop_front();
    acks_.push_back({++ack_number_, now.count(), acknowledged_});
    Ack ack;
    ack.next_sequence = narrow_sequence(acknowledged_);
    ack.path = Ack::Path{.rtt_us = clamp_u32(round_trip.estimate().count()),
                         .rtt_variance_us = clamp_u32(round_trip.variance().count()),
                         .buffer_packets = clamp_u32(static_cast<std::int64_t>(buffer_.space_packets()))};
    ack.rates = rates_;
    return ack;
}

void ReceiveSide::measure_rate(Micros now) {
    const Micros elapsed = now - rate_since_;
    if (elapsed < std::chrono::seconds(1))
        return;
    const auto per_second = [elapsed](std::uint64_t count) {
        return clamp_u32(static_cast<std::int64_t>(count * 1'000'000 / static_cast<std::uint64_t>(elapsed.count())));
    };
    // The capacity of the link is not measured; it is at least the received rate.
    rates_ = {.packets_per_second = per_second(rate_packets_),
              .capacity = per_second(rate_packets_),
              .bytes_per_second = per_second(rate_bytes_)};
    rate_since_ = now;
    rate_packets_ = 0;
    rate_bytes_ = 0;
}

}  // namespace live::engine::srt
