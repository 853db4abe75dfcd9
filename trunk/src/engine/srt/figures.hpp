// Statistics of a connection, counted since it began.
#pragma once

#include <chrono>
#include <cstdint>

namespace live::engine::srt {

struct Figures {
    std::chrono::microseconds rtt{};
    std::chrono::microseconds rtt_variance{};
    std::chrono::milliseconds receive_latency{};  // agreed, for what we receive
    std::chrono::milliseconds send_latency{};     // agreed, for what the peer receives
    std::chrono::microseconds drift{};            // of the peer's clock, followed so far
    std::uint32_t peer_version = 0;               // 0x010500 is 1.5.0; 0 if not announced
    std::uint32_t handshake_version = 0;          // 4 or 5
    std::size_t key_bytes = 0;                    // 0: not encrypted

    // Sending. Packets, each counted once whatever its fate, but for `retransmitted`.
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;  // payloads of the above
    std::uint64_t retransmitted = 0;
    std::uint64_t retransmitted_bytes = 0;
    std::uint64_t send_lost = 0;     // reported by the peer, each report counted
    std::uint64_t send_dropped = 0;  // too late, or the buffer was full
    std::uint64_t acknowledged = 0;  // or dropped before
    bool is_owed_ack = false;        // of the newest packet
    std::uint64_t send_buffer_packets = 0;
    std::uint64_t send_buffer_bytes = 0;
    std::uint64_t key_refreshes = 0;

    // Receiving.
    std::uint64_t received = 0;  // distinct packets
    std::uint64_t received_bytes = 0;
    std::uint64_t received_retransmitted = 0;
    std::uint64_t received_duplicates = 0;
    std::uint64_t receive_lost = 0;     // missing at first, including those that arrived later
    std::uint64_t receive_dropped = 0;  // never delivered: too late, or no space
    std::uint64_t undecrypted = 0;      // no key, or not encrypted though that is required
    std::uint64_t receive_buffer_packets = 0;
    std::uint64_t receive_buffer_bytes = 0;

    std::uint64_t malformed = 0;  // packets from the peer that break the format
};

}  // namespace live::engine::srt
