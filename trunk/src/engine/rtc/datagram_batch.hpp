// Datagrams on their way out, one behind the other in one piece of memory, so that what goes to one address in one size leaves as
// one train (UDP_SEGMENT) without being copied again. The owner of the socket has one for all its sessions: it lets them append,
// sends what is there, and clears it. A session at rest thus holds no buffer of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/transport_address.hpp"

namespace live::engine::rtc {

class DatagramBatch {
public:
    static constexpr std::size_t kBytesMax = 4 << 20;
    static constexpr std::size_t kDatagramsMax = 4'096;
    // What the kernel takes as one message.
    static constexpr std::size_t kTrainDatagramsMax = 64;
    static constexpr std::size_t kTrainBytesMax = 65'000;

    // Datagrams of `segment_bytes` each, only the last may be shorter, all to one address.
    struct Train {
        TransportAddress to;
        Bytes bytes;
        std::size_t segment_bytes = 0;
        std::size_t count = 0;
    };

    // False when the batch is full: the datagram is lost, as it would be in a router, and counted.
    bool append(const TransportAddress& to, Bytes datagram);
    // The same without a copy: room for one of up to so many bytes, to be written to. Empty when the batch is full, which counts
    // as such. Valid until the next call of anything here.
    MutBytes place_for(std::size_t bytes);
    // The first `bytes` of that room are a datagram; else it is forgotten.
    void take_placed(const TransportAddress& to, std::size_t bytes);

    bool empty() const { return entries_.empty(); }
    std::size_t datagrams() const { return entries_.size(); }
    std::size_t trains() const { return trains_; }
    std::size_t bytes() const { return used_; }
    std::uint64_t dropped() const { return dropped_; }
    // Of memory that is kept.
    std::size_t capacity_bytes() const { return entries_.capacity() * sizeof(Entry) + bytes_.capacity(); }

    // In the order in which they were appended.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < entries_.size(); ++i)
            visit(entries_[i].to, bytes_of(i));
    }
    // The same, as few and as long trains as the order allows.
    template <class Visit>
    void for_each_train(Visit visit) const {
        for (std::size_t i = 0; i < entries_.size();) {
            const Train train = train_at(i);
            visit(train);
            i += train.count;
        }
    }
    // Keeps the memory.
    void clear() {
        entries_.clear();
        used_ = trains_ = 0;
    }

private:
    struct Entry {
        TransportAddress to;
        std::size_t end;
        bool begins_train;
    };
    std::size_t begin_of(std::size_t index) const { return index == 0 ? 0 : entries_[index - 1].end; }
    Bytes bytes_of(std::size_t index) const {
        return Bytes(bytes_).subspan(begin_of(index), entries_[index].end - begin_of(index));
    }
    Train train_at(std::size_t index) const;
    bool joins_train(const TransportAddress& to, std::size_t bytes) const;
    bool has_room(std::size_t bytes);

    std::vector<Entry> entries_;
    std::vector<std::uint8_t> bytes_;  // as many as were ever needed, so that no place is cleared before it is written
    std::size_t used_ = 0;
    std::size_t trains_ = 0;
    std::size_t train_ = 0;  // the first datagram of the last one
    std::uint64_t dropped_ = 0;
};

}  // namespace live::engine::rtc
