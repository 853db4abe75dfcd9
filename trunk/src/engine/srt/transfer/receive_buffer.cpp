#include "engine/srt/transfer/receive_buffer.hpp"

#include <algorithm>

#include "base/bytes/hot_lines.hpp"

namespace live::engine::srt {

ReceiveBuffer::Place ReceiveBuffer::place_of(std::uint64_t position, std::size_t bytes) {
    if (position < slots_.begin())
        return Place::late;
    if (slots_.contains(position))
        switch (slots_[position].kind) {
            case Kind::present:
            case Kind::read: return Place::duplicate;
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
    const auto gap = reveal(position, now);
    if (bytes) {
        const std::size_t size = bytes->size();
        slots_[position].bytes = *std::move(bytes);
        fill(position, timestamp, size, Kind::present);
    } else {
        fill(position, timestamp, 0, Kind::dropped);
    }
    return gap;
}

void ReceiveBuffer::insert_read(std::uint64_t position, Micros timestamp, std::size_t size) {
    CHECK(continues_read(position));
    static_cast<void>(reveal(position, {}));  // there is no gap before it
    fill(position, timestamp, size, Kind::read);
    first_unread_ = position + 1;
}

// Makes the slots up to this position. Returns the new ones before it, whose packets are missing.
std::optional<PositionRange> ReceiveBuffer::reveal(std::uint64_t position, Micros now) {
    const std::uint64_t end = slots_.end();
    if (position < end)
        return std::nullopt;
    slots_.extend(position + 1);
    missing_ += static_cast<std::size_t>(position + 1 - end);
    for (std::uint64_t at = end; at < position; ++at)
        slots_[at].time = now;
    return position > end ? std::optional(PositionRange(end, position - 1)) : std::nullopt;
}

void ReceiveBuffer::fill(std::uint64_t position, Micros timestamp, std::size_t size, Kind kind) {
    Slot& slot = slots_[position];
    CHECK(slot.kind == Kind::missing);
    --missing_;
    slot.kind = kind;
    if (slot.is_present()) {
        slot.time = timestamp;
        slot.size = static_cast<std::uint16_t>(size);
        bytes_ += size;
        ++present_;
        // Without packets the hint may be anywhere.
        if (present_ == 1 || position < next_present_)
            next_present_ = position;
    }
    advance_missing();
}

std::optional<ReceiveBuffer::Unread> ReceiveBuffer::read_next() {
    for (first_unread_ = first_unread(); first_unread_ < first_missing_;) {
        const std::uint64_t position = first_unread_++;
        Slot& slot = slots_[position];
        if (slot.kind != Kind::present)
            continue;
        slot.kind = Kind::read;
        return Unread{std::exchange(slot.bytes, {}), position};
    }
    return std::nullopt;
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
    bytes_ -= slot.size;
    --present_;
    next_present_ = slots_.begin();
    first_missing_ = std::max(first_missing_, slots_.begin());
    // The next payload has waited for as long and is in no cache, unless it was read.
    if (!slots_.empty())
        prefetch(slots_[slots_.begin()].bytes.data(), slots_[slots_.begin()].bytes.size());
    return ReceivedPayload{.bytes = std::move(slot.bytes),
                           .skipped = std::exchange(skipped_, 0),
                           .position = next,
                           .size = slot.size,
                           .was_read = slot.kind == Kind::read};
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
    while (!slots_[next_present_].is_present())
        ++next_present_;
    return next_present_;
}

void ReceiveBuffer::drop_front() {
    const Slot slot = slots_.pop_front();
    CHECK(!slot.is_present());
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
