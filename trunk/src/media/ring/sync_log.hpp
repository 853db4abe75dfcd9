// SyncLog: the sync messages of one source, each with its place between two packets of the ring. They are not packets: only nodes
// that relay the stream and outputs that segment it read them. An entry leaves the log with the packets before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/ring.hpp"
#include "media/ring/sync_message.hpp"

namespace live::media {

class SyncLog {
public:
    // A further entry is dropped. 300 are due in 30 s with HLS and DASH segments of 200 ms.
    static constexpr std::size_t kMax = 1'024;
    // Series whose newest message is kept for nodes that join.
    static constexpr std::size_t kSeriesMax = 4;

    struct Entry {
        Sequence before = 0;  // the packet that follows
        MediaTime time{};     // of the newest packet
        SyncMessage message;
    };

    SyncLog() = default;
    SyncLog(const SyncLog&) = delete;
    SyncLog& operator=(const SyncLog&) = delete;

    // Returns the new entry, which is valid until the log changes; nullptr if the log is full.
    const Entry* append(Entry entry);
    // Drops the entries before all packets that are kept from `sequence` on.
    void drop_before(Sequence sequence) {
        if (!entries_.empty() && entries_.front().before < sequence)
            drop(sequence);
    }
    // The newest messages of the previous publisher are not for nodes that join from now on.
    void start_publisher() { newest_.clear(); }

    // Entries are numbered from zero on.
    std::uint64_t first() const { return first_; }
    std::uint64_t next() const { return first_ + entries_.size(); }
    // `number` must be in [first, next).
    const Entry& at(std::uint64_t number) const;
    // The entries directly before a packet.
    std::span<const Entry> before(Sequence sequence) const;
    // The newest entry of each series of this publisher, except kRelayStart.
    const std::vector<Entry>& newest() const { return newest_; }
    std::size_t held_bytes() const;

private:
    void drop(Sequence sequence);

    std::vector<Entry> entries_;  // few; by `before`
    std::vector<Entry> newest_;
    std::uint64_t first_ = 0;
};

// Returns the entry as the packet that relays receive.
Packet packet_of(const SyncLog::Entry& entry);

}  // namespace live::media
