// Inputs and outputs of a connection, for its owner.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "engine/srt/handshake/key_message.hpp"

namespace live::engine::srt {

struct ConnectionOptions {
    // For each direction the larger value of both ends is agreed on.
    std::chrono::milliseconds receive_latency = 120ms;
    std::chrono::milliseconds peer_latency = 0ms;
    bool tsbpd = true;                // off: payloads are delivered as soon as they are in order
    bool too_late_drop = true;        // off: a missing packet holds up everything after it until the buffer is full
    std::int64_t bandwidth_max = -1;  // bytes per second; -1: 1 Gbit/s
    std::size_t send_buffer_bytes = 8'192 * 1'472;
    std::size_t receive_buffer_bytes = 8'192 * 1'472;
    std::uint32_t mtu = 1'500;  // with IP and UDP headers
    std::size_t payload_bytes_max = 1'316;
    std::uint32_t flow_window = 25'600;  // packets
    std::chrono::milliseconds peer_idle_timeout = 10s;
    // Packets between two keys, and how many packets earlier the next key is announced.
    std::uint64_t key_refresh_packets = std::uint64_t{1} << 24;
    std::uint64_t key_announce_packets = std::uint64_t{1} << 12;
    // Payloads that are not encrypted are dropped. For version 4 callers, which announce it only after the handshake.
    bool requires_encryption = false;
};

enum class CloseReason : std::uint8_t {
    none,           // open
    peer_shutdown,  // the peer sent a shutdown
    idle,           // nothing from the peer for peer_idle_timeout
    closed,         // close() was called
    peer_rejected,  // the peer has no or another passphrase, or refuses the agreement
};

// The result of next_payload.
struct ReceivedPayload {
    Slice bytes;                 // empty if it was read
    std::uint64_t skipped = 0;   // packets lost for good between the payload before and this one
    std::uint64_t position = 0;  // ascends; with gaps where packets are lost
    std::size_t size = 0;
    bool was_read = false;  // next_arrived has returned its bytes
};

// The result of next_arrived.
struct ArrivedPayload {
    Bytes bytes;  // valid until the next call of the connection
    std::uint64_t position = 0;
};

// A key message arrived that only a key of the passphrase and this salt opens: derive_key it, in a worker if wanted, and
// call answer_key. Comes from version 4 peers, and from others with a new salt.
struct KeyQuestion {
    Salt salt{};
    std::size_t key_bytes = 0;
};

}  // namespace live::engine::srt
