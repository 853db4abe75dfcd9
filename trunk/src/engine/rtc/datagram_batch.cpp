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
    const bool begins_train = !joins_train(to, bytes);
    if (begins_train) {
        ++trains_;
        train_ = entries_.size();
    }
    used_ += bytes;
    entries_.push_back({to, used_, begins_train});
}

// A shorter one, or an empty one, ends a train.
bool DatagramBatch::joins_train(const TransportAddress& to, std::size_t bytes) const {
    if (entries_.empty() || to != entries_.back().to || entries_.size() - train_ == kTrainDatagramsMax)
        return false;
    const std::size_t begin = begin_of(train_);
    const std::size_t segment = entries_[train_].end - begin;
    const bool last_is_whole = used_ - begin_of(entries_.size() - 1) == segment;
    return last_is_whole && bytes <= segment && bytes > 0 && used_ + bytes - begin <= kTrainBytesMax;
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
    std::size_t end = index + 1;
    while (end < entries_.size() && !entries_[end].begins_train)
        ++end;
    return {entries_[index].to, Bytes(bytes_).subspan(begin, entries_[end - 1].end - begin), entries_[index].end - begin,
            end - index};
}

}  // namespace live::engine::rtc
