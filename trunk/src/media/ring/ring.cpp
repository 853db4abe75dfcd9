#include "media/ring/ring.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace live::media {

const Packet& Ring::at(Sequence sequence) const {
    CHECK(sequence >= first_ && sequence < next_);
    return packet(sequence);
}

void Ring::append(Packet&& added) {
    if (next_ % kChunkPackets == 0)
        open_chunk();
    bytes_ += added.payload.size();
    newest_chunk_[next_ % kChunkPackets] = std::move(added);
    ++next_;
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

void Ring::open_chunk() {
    if (held_ == chunks_.size())
        grow();
    Chunk& chunk = chunks_[place_of(next_)];
    chunk = spare_ != nullptr ? std::move(spare_) : std::make_unique<Packet[]>(kChunkPackets);
    newest_chunk_ = chunk.get();
    ++held_;
}

void Ring::close_chunk(Sequence last) {
    spare_ = std::move(chunks_[place_of(last)]);
    --held_;
}

void Ring::grow() {
    std::vector<Chunk> larger(std::max<std::size_t>(1, chunks_.size() * 2));
    for (Sequence at = first_ - first_ % kChunkPackets; at < next_; at += kChunkPackets)
        larger[static_cast<std::size_t>(at / kChunkPackets) & (larger.size() - 1)] = std::move(chunks_[place_of(at)]);
    chunks_ = std::move(larger);
}

}  // namespace live::media
