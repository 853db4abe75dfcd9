#include "engine/rtc/datagram_batch.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace live::engine::rtc {

bool DatagramBatch::append(const TransportAddress& to, Bytes datagram) {
    if (!has_room(datagram.size()))
        return false;
    std::ranges::copy(datagram, bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
    take_placed(to, datagram.size());
    return true;
}

MutBytes DatagramBatch::place_for(std::size_t bytes) {
    return has_room(bytes) ? MutBytes(bytes_).subspan(used_, bytes) : MutBytes();
}

void DatagramBatch::take_placed(const TransportAddress& to, std::size_t bytes) {
    CHECK(bytes <= bytes_.size() - used_);
    used_ += bytes;
    entries_.push_back({to, used_});
}

bool DatagramBatch::has_room(std::size_t bytes) {
    if (entries_.size() == kDatagramsMax || bytes > kBytesMax - used_) {
        ++dropped_;
        return false;
    }
    if (bytes > bytes_.size() - used_)
        bytes_.resize(std::clamp(2 * bytes_.size(), used_ + bytes, kBytesMax));
    return true;
}

DatagramBatch::Train DatagramBatch::train_at(std::size_t index) const {
    const std::size_t begin = begin_of(index);
    const std::size_t segment = entries_[index].end - begin;
    std::size_t last = index;
    while (last + 1 < entries_.size() && last + 1 - index < kTrainDatagramsMax) {
        const Entry& next = entries_[last + 1];
        const std::size_t size = next.end - entries_[last].end;
        // A shorter one, or an empty one, ends the train.
        const bool last_is_whole = entries_[last].end - begin_of(last) == segment;
        if (!last_is_whole || size > segment || size == 0 || next.end - begin > kTrainBytesMax || next.to != entries_[index].to)
            break;
        ++last;
    }
    const std::size_t count = last + 1 - index;
    return {entries_[index].to, Bytes(bytes_).subspan(begin, entries_[last].end - begin), segment, count};
}

}  // namespace live::engine::rtc
