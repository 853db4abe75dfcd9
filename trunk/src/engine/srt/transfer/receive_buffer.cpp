#include "engine/srt/transfer/receive_buffer.hpp"

#include <algorithm>

#include "base/bytes/hot_lines.hpp"

namespace live::engine::srt {

ReceiveBuffer::Place ReceiveBuffer::place_of(std::uint64_t position, std::size_t bytes) {
    if (position < slots_.begin())
        return Place::late;
    if (slots_.contains(position))
        switch (slots_[position].kind) {
            case Kind::present: return Place::duplicate;
            case Kind::dropped: return Place::late;
            case Kind::missing: break;
        }
    if (position - slots_.begin() < limits_.packets && bytes_ + bytes <= limits_.bytes)
        return Place::wanted;
    // The sender is too far ahead: missing packets will not arrive. Packets that have arrived are delivered first.
    if (present_ == 0) {
        drop_before(position);
        return Place::wanted;
    }
    if (!limits_.too_late_drop)
        drop_before(next_present());
    return Place::no_space;
}

std::optional<PositionRange> ReceiveBuffer::insert(std::uint64_t position, Micros timestamp, std::optional<Slice> bytes,
                                                   Micros now) {
    std::optional<PositionRange> gap;
    const std::uint64_t end = slots_.end();
    if (position >= end) {
        slots_.extend(position + 1);
        missing_ += static_cast<std::size_t>(position + 1 - end);
        if (position > end)
            gap = {end, position - 1};
        for (std::uint64_t at = end; at < position; ++at)
            slots_[at].time = now;
    }
    Slot& slot = slots_[position];
    CHECK(slot.kind == Kind::missing);
    --missing_;
    slot.kind = bytes ? Kind::present : Kind::dropped;
    if (bytes) {
        slot.time = timestamp;
        bytes_ += bytes->size();
        ++present_;
        slot.bytes = std::move(*bytes);
        // Without packets the hint may be anywhere.
        if (present_ == 1 || position < next_present_)
            next_present_ = position;
    }
    advance_missing();
    return gap;
}

void ReceiveBuffer::give_up(PositionRange range) {
    const std::uint64_t last = std::min(range.second + 1, slots_.end());
    for (std::uint64_t at = std::max(range.first, first_missing_); at < last; ++at) {
        Slot& slot = slots_[at];
        if (slot.kind != Kind::missing)
            continue;
        slot.kind = Kind::dropped;
        --missing_;
    }
    advance_missing();
}

std::optional<ReceivedPayload> ReceiveBuffer::take(Micros now, const DeliveryClock* clock) {
    while (!slots_.empty() && slots_[slots_.begin()].kind == Kind::dropped)
        drop_front();
    if (present_ == 0)
        return std::nullopt;
    const std::uint64_t next = next_present();
    if (clock != nullptr && now < clock->due_at(slots_[next].time))
        return std::nullopt;
    // Between two that are missing for good and one that is due may be some that the sender has given up.
    const bool is_held_up = first_missing_ < next;
    if (is_held_up && (clock == nullptr || !limits_.too_late_drop))
        return std::nullopt;
    drop_before(next);
    Slot slot = slots_.pop_front();
    bytes_ -= slot.bytes.size();
    --present_;
    next_present_ = slots_.begin();
    first_missing_ = std::max(first_missing_, slots_.begin());
    // The next payload has waited for as long and is in no cache.
    if (!slots_.empty())
        prefetch(slots_[slots_.begin()].bytes.data(), slots_[slots_.begin()].bytes.size());
    return ReceivedPayload{std::move(slot.bytes), std::exchange(skipped_, 0)};
}

std::optional<Micros> ReceiveBuffer::next_due(const DeliveryClock* clock) const {
    if (present_ == 0)
        return std::nullopt;
    const std::uint64_t next = next_present();
    if (first_missing_ < next && (clock == nullptr || !limits_.too_late_drop))
        return std::nullopt;
    return clock == nullptr ? Micros::min() : clock->due_at(slots_[next].time);
}

std::vector<PositionRange> ReceiveBuffer::missing_ranges(Micros now, Micros interval, Micros late_interval, std::size_t count) {
    std::vector<PositionRange> ranges;
    std::size_t left = missing_;
    for (std::uint64_t at = first_missing_; left > 0 && at < slots_.end(); ++at) {
        Slot& slot = slots_[at];
        if (slot.kind != Kind::missing)
            continue;
        --left;
        if (now - slot.time < (slot.asked < kAskedMax ? interval : late_interval))
            continue;
        if (!ranges.empty() && ranges.back().second + 1 == at)
            ranges.back().second = at;
        else if (ranges.size() == count)
            break;
        else
            ranges.emplace_back(at, at);
        slot.time = now;
        if (slot.asked < kAskedMax)
            ++slot.asked;
    }
    return ranges;
}

void ReceiveBuffer::advance_missing() {
    while (first_missing_ < slots_.end() && slots_[first_missing_].kind != Kind::missing)
        ++first_missing_;
}

std::uint64_t ReceiveBuffer::next_present() const {
    next_present_ = std::max(next_present_, slots_.begin());
    while (slots_[next_present_].kind != Kind::present)
        ++next_present_;
    return next_present_;
}

void ReceiveBuffer::drop_front() {
    const Slot slot = slots_.pop_front();
    CHECK(slot.kind != Kind::present);
    if (slot.kind == Kind::missing)
        --missing_;
    ++dropped_;
    ++skipped_;
}

void ReceiveBuffer::drop_before(std::uint64_t position) {
    while (!slots_.empty() && slots_.begin() < position)
        drop_front();
    if (slots_.empty() && slots_.begin() < position) {
        dropped_ += position - slots_.begin();
        skipped_ += position - slots_.begin();
        slots_.restart(position);
    }
    first_missing_ = std::max(first_missing_, slots_.begin());
    advance_missing();
}

}  // namespace live::engine::srt
