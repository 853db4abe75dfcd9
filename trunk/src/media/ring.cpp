#include "media/ring.hpp"

#include <utility>

#include "base/check.hpp"

namespace live::media {

const Packet& Ring::at(Sequence sequence) const {
    CHECK(sequence >= first_ && sequence < next_);
    return slots_[slot(sequence)];
}

void Ring::append(Packet packet) {
    if (size() == slots_.size())
        grow();
    bytes_ += packet.payload.size();
    slots_[slot(next_)] = std::move(packet);
    ++next_;
}

void Ring::drop_before(Sequence sequence) {
    CHECK(sequence <= next_);
    for (; first_ < sequence; ++first_) {
        Packet& packet = slots_[slot(first_)];
        bytes_ -= packet.payload.size();
        packet.payload = Slice();
    }
}

Sequence Ring::find_time(MediaTime time) const {
    Sequence low = first_;
    Sequence high = next_;
    while (low < high) {
        const Sequence middle = low + (high - low) / 2;
        if (at(middle).dts < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void Ring::grow() {
    constexpr std::size_t kInitialSlots = 64;
    std::vector<Packet> larger(slots_.empty() ? kInitialSlots : slots_.size() * 2);
    for (Sequence sequence = first_; sequence < next_; ++sequence)
        larger[static_cast<std::size_t>(sequence) & (larger.size() - 1)] = std::move(slots_[slot(sequence)]);
    slots_ = std::move(larger);
}

}  // namespace live::media
