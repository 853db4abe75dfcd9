// Ring: the packets of one source in one order, with sequence numbers that start at zero and never wrap. Readers hold numbers,
// not pointers. Publishing is one append; the owner (Retention) decides how many old packets are dropped, because it has the
// list of readers. Packets are kept in chunks: growing moves no packets, and memory follows the number of packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

using Sequence = std::uint64_t;

class Ring {
public:
    static constexpr std::size_t kChunkPackets = 64;

    Sequence first() const { return first_; }
    Sequence next() const { return next_; }
    bool empty() const { return first_ == next_; }
    std::size_t size() const { return static_cast<std::size_t>(next_ - first_); }
    // Bytes of payload held.
    std::size_t bytes() const { return bytes_; }
    // Packets that fit into the memory held.
    std::size_t capacity() const { return kChunkPackets * (held_ + (spare_ == nullptr ? 0 : 1)); }

    // `sequence` must be in [first, next).
    const Packet& at(Sequence sequence) const;
    const Packet& newest() const { return at(next_ - 1); }

    void append(Packet&& packet);
    // Drops everything before `sequence`; `recycle` gets the payloads.
    template <class Recycle>
    void drop_before(Sequence sequence, Recycle&& recycle) {
        CHECK(sequence <= next_);
        for (; first_ < sequence; ++first_) {
            Slice payload = std::exchange(packet(first_).payload, Slice());
            bytes_ -= payload.size();
            recycle(std::move(payload));
            if (first_ % kChunkPackets == kChunkPackets - 1)
                close_chunk(first_);
        }
    }
    void drop_before(Sequence sequence) {
        drop_before(sequence, [](const Slice&) {});
    }
    // Approximately the first packet in [first, next) whose time is not before `time`, or next. Off by at most the few tens of ms
    // by which kinds interleave.
    Sequence find_time(MediaTime time) const;

private:
    using Chunk = std::unique_ptr<Packet[]>;

    std::size_t place_of(Sequence sequence) const {
        return static_cast<std::size_t>(sequence / kChunkPackets) & (chunks_.size() - 1);
    }
    Packet& packet(Sequence sequence) const { return chunks_[place_of(sequence)][sequence % kChunkPackets]; }
    void open_chunk();
    void close_chunk(Sequence last);
    void grow();

    std::vector<Chunk> chunks_;       // by place_of(); size is a power of two
    std::size_t held_ = 0;            // chunks
    Chunk spare_;                     // the one emptied last, for the next one
    Packet* newest_chunk_ = nullptr;  // where append() writes
    Sequence first_ = 0;
    Sequence next_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace live::media
