// Outgoing datagrams, contiguous in one buffer, so that those of one size to one address are sent as one GSO batch (UDP_SEGMENT)
// without another copy. The owner of the socket has one for all its sessions: they append, it sends and clears. So an idle
// session holds no buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"

namespace live::engine::webrtc {

class DatagramBatch {
public:
    static constexpr std::size_t kBytesMax = 4 << 20;
    static constexpr std::size_t kDatagramsMax = 4'096;
    // The kernel's limits for one message.
    static constexpr std::size_t kGsoDatagramsMax = 64;
    static constexpr std::size_t kGsoBytesMax = 65'000;

    // Datagrams of `segment_bytes` each, only the last of which may be shorter, all to one address.
    struct GsoBatch {
        TransportAddress to;
        Bytes bytes;
        std::size_t segment_bytes = 0;
        std::size_t count = 0;
    };

    // False if the batch is full: the datagram is dropped, as a router would drop it, and counted.
    bool append(const TransportAddress& to, Bytes datagram);
    // The same without a copy: returns a buffer for a datagram of up to `bytes`. Empty if the batch is full, which is counted.
    // Valid until the next call of any function here.
    MutBytes place_for(std::size_t bytes);
    // Appends the first `bytes` of that buffer as a datagram; without this call the buffer is discarded.
    void take_placed(const TransportAddress& to, std::size_t bytes);

    bool empty() const { return entries_.empty(); }
    std::size_t datagrams() const { return entries_.size(); }
    std::size_t gso_batches() const { return gso_batches_; }
    std::size_t bytes() const { return used_; }
    std::uint64_t dropped() const { return dropped_; }
    // Memory that is kept.
    std::size_t capacity_bytes() const { return entries_.capacity() * sizeof(Entry) + bytes_.capacity(); }

    // In the order of appending.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < entries_.size(); ++i)
            visit(entries_[i].to, bytes_of(i));
    }
    // The same, grouped into as few and as long GSO batches as the order allows.
    template <class Visit>
    void for_each_gso_batch(Visit visit) const {
        for (std::size_t i = 0; i < entries_.size();) {
            const GsoBatch gso = gso_batch_at(i);
            visit(gso);
            i += gso.count;
        }
    }
    // Keeps the memory.
    void clear() {
        entries_.clear();
        used_ = gso_batches_ = 0;
    }

private:
    struct Entry {
        TransportAddress to;
        std::size_t end;
        bool begins_gso_batch;
    };
    std::size_t begin_of(std::size_t index) const { return index == 0 ? 0 : entries_[index - 1].end; }
    Bytes bytes_of(std::size_t index) const {
        return Bytes(bytes_).subspan(begin_of(index), entries_[index].end - begin_of(index));
    }
    GsoBatch gso_batch_at(std::size_t index) const;
    bool joins_gso_batch(const TransportAddress& to, std::size_t bytes) const;
    bool has_room(std::size_t bytes);

    std::vector<Entry> entries_;
    std::vector<std::uint8_t> bytes_;  // keeps its maximum size, so that no buffer is cleared before it is written
    std::size_t used_ = 0;
    std::size_t gso_batches_ = 0;
    std::size_t gso_begin_ = 0;  // the first datagram of the last GSO batch
    std::uint64_t dropped_ = 0;
};

}  // namespace live::engine::webrtc
