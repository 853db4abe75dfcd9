// The sending half of a connection: payloads from send() until they are acknowledged or too late, pacing, retransmission on
// request (draft-sharabayko-srt-01, 4.6, 4.8 and 5.1).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/ring_queue.hpp"
#include "engine/srt/packet.hpp"
#include "engine/srt/transfer/receive_side.hpp"
#include "engine/srt/transfer/round_trip.hpp"
#include "engine/srt/transfer/send_budget.hpp"
#include "engine/srt/transfer/sequence_ring.hpp"

namespace live::engine::srt {

class SendSide {
public:
    // The time whose data is sent at once, so that a socket's owner can send batches.
    static constexpr Micros kBurst{10'000};
    // Bytes per second, where none is given: a multiple of the rate of the input, within these bounds. The bytes of its densest
    // window may leave in one burst, so that no frame waits.
    static constexpr std::int64_t kInputTimes = InputRate::kWindow / kBurst;
    static constexpr std::int64_t kBandwidthMin = 1'250'000;
    static constexpr std::int64_t kBandwidthMax = 125'000'000;
    static constexpr Micros kKeptMin = std::chrono::seconds(1);
    static constexpr std::size_t kDropRequestsMax = 32;
    // Applies even if the peer announces less space: only a packet makes it announce more.
    static constexpr std::uint64_t kInFlightMin = 2;

    // Copies of a retransmission for a packet that is requested again, or that can perhaps not be requested again before it is
    // due. Receivers ignore duplicates.
    static constexpr unsigned kCopiesMax = 3;
    // Between copies, so that they are not lost together.
    static constexpr Micros kCopyDistance{5'000};
    // Copies beyond the first are at most one for this many new packets; unused ones are saved for a burst of losses.
    static constexpr unsigned kPacketsPerCopy = 4;
    static constexpr unsigned kSpareCopiesMax = 64;

    struct Limits {
        std::size_t bytes = 0;
        std::int64_t bandwidth = -1;  // 0 and less: by the input
        std::uint32_t peer_window = 0;
        bool too_late_drop = true;
        Micros latency{};
    };
    struct Outgoing {
        std::uint64_t position = 0;
        const Slice* payload = nullptr;
        Micros origin{};
        KeyFlag key = KeyFlag::none;
        bool is_retransmitted = false;
    };
    struct Counts {
        std::uint64_t sent = 0;
        std::uint64_t sent_bytes = 0;
        std::uint64_t retransmitted = 0;
        std::uint64_t retransmitted_bytes = 0;
        std::uint64_t lost = 0;
        std::uint64_t dropped = 0;
        std::uint64_t acknowledged = 0;
    };

    SendSide(std::uint64_t first, const Limits& limits);

    void set_latency(Micros latency) { limits_.latency = latency; }
    void set_too_late_drop(bool is_on) { limits_.too_late_drop = is_on; }

    // False if the buffer is full.
    bool push(Micros now, const Slice& payload, KeyFlag key);
    // False if the peer acknowledges packets that were never sent.
    bool handle_ack(Micros now, const Ack& ack);
    // False if it reports packets that were never sent.
    bool handle_nak(Micros now, const std::vector<SequenceRange>& ranges, const RoundTrip& round_trip);

    void handle_timeout(Micros now, const RoundTrip& round_trip);
    Micros next_timeout(const RoundTrip& round_trip) const;
    // The next data packet, if one may be sent now; it counts as sent. The payload is valid until the next call.
    std::optional<Outgoing> next(Micros now);
    // Returns when next() will return a packet; Micros::max() if never.
    Micros next_send() const;
    // How long the newest packet took to be acknowledged that was sent once; nothing since the last call.
    std::optional<Micros> take_ack_delay() { return std::exchange(ack_delay_, std::nullopt); }
    bool has_output() const { return !drop_requests_.empty(); }
    std::optional<ControlOutput> next_output();

    const Counts& counts() const { return counts_; }
    // The peer has not acknowledged the newest packet, though it may have been dropped here since.
    bool is_owed_ack() const { return acknowledged_to_ < next_; }
    std::size_t packets() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_; }
    std::size_t held_bytes() const { return entries_.held_bytes() + requested_.held_bytes() + copies_.held_bytes() + bytes_; }

private:
    struct Entry {
        Slice payload;
        Micros origin{};
        Micros sent_at{};
        KeyFlag key = KeyFlag::none;
        bool is_requested = false;
        bool is_resent = false;
        bool is_copied = false;   // it is in copies_
        std::uint8_t copies = 0;  // still to be sent after the retransmission
    };

    struct Copy {
        std::uint64_t position;
        Micros due;
    };

    void drop_late(Micros now);
    void pop();
    void request(Micros now, std::uint64_t position, const RoundTrip& round_trip);
    std::uint8_t spend_copies(Micros now, const Entry& entry, const RoundTrip& round_trip);
    void forget_old_requests();
    bool may_send_new() const;
    Micros kept_for() const { return std::max(kKeptMin, limits_.latency * 5 / 4); }
    std::int64_t bandwidth() const;
    Micros probe_at(const RoundTrip& round_trip) const;
    Outgoing send(Micros now, std::uint64_t position);
    Outgoing resend(Micros now, std::uint64_t position);

    SequenceRing<Entry> entries_;
    std::uint64_t next_;  // not sent yet
    std::uint64_t acknowledged_to_;
    std::uint64_t window_end_;            // the peer has space before it
    RingQueue<std::uint64_t> requested_;  // for retransmission; those before entries_ are stale
    RingQueue<Copy> copies_;              // in order of their times; those before entries_ are stale
    unsigned spare_copies_ = 0;           // times kPacketsPerCopy
    std::vector<PositionRange> drop_requests_;
    Limits limits_;
    std::size_t bytes_ = 0;
    std::chrono::nanoseconds paced_until_ = -kBurst;
    InputRate input_;
    ResendBudget budget_;
    std::optional<Micros> ack_delay_;
    Micros progress_at_{};  // the newest packet was sent, or something was acknowledged
    unsigned probes_ = 0;
    Counts counts_;
};

}  // namespace live::engine::srt
