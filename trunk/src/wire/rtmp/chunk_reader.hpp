// Assembles messages from chunks (RTMP 1.0, section 5.3). A push parser: accepts input in any portions and copies every payload
// byte exactly once, into the Slice returned with the message. Consecutive audio and video messages share blocks of memory
// (kBlockBytes): they are kept and released together, and with a thousand publishers separate allocations would cost a cache miss
// per message. Does not interpret messages: the chunk size and aborts are passed in through set_chunk_size() and abort(), because
// the owner applies its limits first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/chunk_follower.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

class ChunkReader {
public:
    struct Limits {
        // The longest accepted message.
        std::size_t message_bytes = 10 << 20;
        // Total length of all incomplete messages: a peer may interleave, but not accumulate without bound.
        std::size_t pending_bytes = 20 << 20;
        // Number of chunk streams a peer may use.
        std::size_t chunk_streams = 64;
    };

    // Size of a shared block: 16 KiB including the headers of Slice and the heap.
    static constexpr std::size_t kBlockBytes = (16 << 10) - 32;
    // The longest message placed in a shared block, so that each block is at least half used.
    static constexpr std::size_t kSharedBytesMax = kBlockBytes / 2;

    ChunkReader() : ChunkReader(Limits{}) {}
    explicit ChunkReader(Limits limits) : limits_(limits), follower_(limits.chunk_streams) {}

    // Initial allocation of a message that does not share a block, and the largest increment: memory follows the bytes received,
    // not the length that a peer declares.
    static constexpr std::size_t kFirstBytes = 64 << 10;
    static constexpr std::size_t kMoreBytesMax = 1 << 20;

    // Consumes bytes from the front of `input` until a message is complete or `input` is empty. Call again while it returns
    // messages. Errc::malformed and Errc::limit are final: chunk synchronisation is lost.
    Result<std::optional<Message>> read(Bytes& input);

    // Sets the peer's chunk size; at least 1. Takes effect with the next chunk.
    void set_chunk_size(std::uint32_t bytes) { follower_.set_chunk_size(bytes); }
    std::uint32_t chunk_size() const { return follower_.chunk_size(); }

    // Applies to messages that begin from now on.
    void set_limits(const Limits& limits) {
        limits_ = limits;
        follower_.set_chunk_streams_max(limits.chunk_streams);
    }

    // Discards the partial message on this chunk stream (RTMP 1.0, section 5.4.2), if any.
    void abort(std::uint32_t chunk_stream);

    // Memory held by incomplete messages.
    std::size_t held_bytes() const { return held_bytes_; }

    // Releases memory that only an active peer needs.
    void release_buffers() {
        follower_.release_buffers();
        payloads_.shrink_to_fit();
        block_ = Slice();
        room_ = {};
    }

private:
    // An incomplete message.
    struct Payload {
        Slice slice;
        std::uint8_t* bytes = nullptr;  // into the slice, for writing
    };

    Result<void> begin_message(std::size_t index);
    static Payload allocate(std::size_t length);
    void make_room(Payload& payload, std::size_t needed, std::size_t length);
    Payload carve(std::size_t length);

    Limits limits_;
    ChunkFollower follower_;
    std::vector<Payload> payloads_;  // by the follower's stream index
    Slice block_;
    MutBytes room_;                  // the unused part of block_
    std::size_t pending_bytes_ = 0;  // declared lengths
    std::size_t held_bytes_ = 0;     // allocated
};

}  // namespace live::wire::rtmp
