#include "engine/webrtc/datagram_batch.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace live::engine::webrtc {

bool DatagramBatch::append(const TransportAddress& to, Bytes datagram) {
    if (!has_room(datagram.size()))
        return false;
    copy_bytes(datagram, MutBytes(bytes_).subspan(used_));
    take_placed(to, datagram.size());
    return true;
}

MutBytes DatagramBatch::place_for(std::size_t bytes) {
    return has_room(bytes) ? MutBytes(bytes_).subspan(used_, bytes) : MutBytes();
}

void DatagramBatch::take_placed(const TransportAddress& to, std::size_t bytes) {
    CHECK(bytes <= bytes_.size() - used_);
    const bool begins_gso_batch = !joins_gso_batch(to, bytes);
    if (begins_gso_batch) {
        ++gso_batches_;
        gso_begin_ = entries_.size();
    }
    used_ += bytes;
    entries_.push_back({to, used_, begins_gso_batch});
}

// A shorter or empty datagram ends a GSO batch.
bool DatagramBatch::joins_gso_batch(const TransportAddress& to, std::size_t bytes) const {
    if (entries_.empty() || to != entries_.back().to || entries_.size() - gso_begin_ == kGsoDatagramsMax)
        return false;
    const std::size_t begin = begin_of(gso_begin_);
    const std::size_t segment = entries_[gso_begin_].end - begin;
    const bool last_is_whole = used_ - begin_of(entries_.size() - 1) == segment;
    return last_is_whole && bytes <= segment && bytes > 0 && used_ + bytes - begin <= kGsoBytesMax;
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

DatagramBatch::GsoBatch DatagramBatch::gso_batch_at(std::size_t index) const {
    const std::size_t begin = begin_of(index);
    std::size_t end = index + 1;
    while (end < entries_.size() && !entries_[end].begins_gso_batch)
        ++end;
    return {entries_[index].to, Bytes(bytes_).subspan(begin, entries_[end - 1].end - begin), entries_[index].end - begin,
            end - index};
}

}  // namespace live::engine::webrtc
