#include "engine/rtc/datagram_batch.hpp"

namespace live::engine::rtc {

bool DatagramBatch::append(const TransportAddress& to, Bytes datagram) {
    if (entries_.size() == kDatagramsMax || datagram.size() > kBytesMax - bytes_.size()) {
        ++dropped_;
        return false;
    }
    bytes_.insert(bytes_.end(), datagram.begin(), datagram.end());
    entries_.push_back({to, bytes_.size()});
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
