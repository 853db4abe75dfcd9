// Packets of one connection between arrival and delivery: in order of their sequence numbers, with gaps. Bounded in packets and
// in bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "engine/srt/connection_types.hpp"
#include "engine/srt/transfer/delivery_clock.hpp"
#include "engine/srt/transfer/sequence_ring.hpp"

namespace live::engine::srt {

// Positions, first and last, inclusive.
using PositionRange = std::pair<std::uint64_t, std::uint64_t>;

class ReceiveBuffer {
public:
    struct Limits {
        std::size_t bytes = 0;
        std::size_t packets = 0;
        bool too_late_drop = true;
    };
    static constexpr std::uint8_t kAskedMax = 3;  // counted no further

    enum class Place : std::uint8_t {
        wanted,
        duplicate,  // has arrived already
        late,       // has been delivered or given up
        no_space,
    };

    // A payload that is returned before it is due.
    struct Unread {
        Slice bytes;
        std::uint64_t position = 0;
    };

    ReceiveBuffer(std::uint64_t first, Limits limits)
        : slots_(first), first_missing_(first), first_unread_(first), next_present_(first), limits_(limits) {}

    // Reports whether a packet would be stored. May give up missing packets at the front if that is the only way to continue.
    Place place_of(std::uint64_t position, std::size_t bytes);
    // For a wanted position. Returns the gap that this packet reveals before it. Without bytes: received, but cannot be
    // delivered.
    std::optional<PositionRange> insert(std::uint64_t position, Micros timestamp, std::optional<Slice> bytes, Micros now);
    // The sender has given them up. Those outside the buffer are ignored.
    void give_up(PositionRange range);

    // Reports whether this position continues what was read: all before it have arrived or were given up, and were read.
    bool continues_read(std::uint64_t position) const { return position == first_missing_ && position == first_unread(); }
    // Stores a wanted packet that continues what was read, and whose payload of `size` bytes is read now. It takes as much of the
    // limits as any other until it is due.
    void insert_read(std::uint64_t position, Micros timestamp, std::size_t size);
    // Returns the next payload in order that was not read, which take() returns without its bytes when it is due. nullopt if it
    // has not arrived, or if packets before it are missing.
    std::optional<Unread> read_next();

    // The next payload that is due. With too-late drop, what is missing before a due one is skipped. No clock: as soon as it is
    // in order.
    std::optional<ReceivedPayload> take(Micros now, const DeliveryClock* clock);
    // Returns when take() may return a packet; nullopt if there are no packets, or if they wait for a missing one.
    std::optional<Micros> next_due(const DeliveryClock* clock) const;

    // All before this one have arrived or were given up.
    std::uint64_t first_missing() const { return first_missing_; }
    std::uint64_t end() const { return slots_.end(); }
    std::size_t missing() const { return missing_; }
    std::size_t packets() const { return present_; }
    std::size_t bytes() const { return bytes_; }
    std::size_t held_bytes() const { return slots_.held_bytes() + bytes_; }
    std::size_t space_packets() const { return limits_.packets > slots_.size() ? limits_.packets - slots_.size() : 0; }
    std::uint64_t dropped() const { return dropped_; }

    // Returns missing ranges that were not requested since `interval`, or since `late_interval` after kAskedMax requests: up to
    // `count` ranges, marked as requested now.
    std::vector<PositionRange> missing_ranges(Micros now, Micros interval, Micros late_interval, std::size_t count);

private:
    enum class Kind : std::uint8_t {
        missing,
        present,
        read,  // present, without its bytes
        dropped,
    };
    struct Slot {
        bool is_present() const { return kind == Kind::present || kind == Kind::read; }

        Slice bytes;
        Micros time{};           // present: its timestamp; missing: time of the last request
        std::uint16_t size = 0;  // of the payload
        Kind kind = Kind::missing;
        std::uint8_t asked = 1;  // requests; a gap is requested when it is detected
    };

    std::uint64_t first_unread() const { return std::max(first_unread_, slots_.begin()); }
    std::optional<PositionRange> reveal(std::uint64_t position, Micros now);
    void fill(std::uint64_t position, Micros timestamp, std::size_t size, Kind kind);
    void advance_missing();
    std::uint64_t next_present() const;
    void drop_before(std::uint64_t position);
    void drop_front();

    SequenceRing<Slot> slots_;
    std::uint64_t first_missing_;
    std::uint64_t first_unread_;
    mutable std::uint64_t next_present_;  // none before it is present
    Limits limits_;
    std::size_t missing_ = 0;
    std::size_t present_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t skipped_ = 0;  // since the last payload
};

}  // namespace live::engine::srt
