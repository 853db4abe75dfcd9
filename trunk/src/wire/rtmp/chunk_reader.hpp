// Puts messages together from chunks (RTMP 1.0, section 5.3). A push parser: it is fed whatever arrived and copies every payload
// byte exactly once, into the Slice that leaves as the message. Audio and video that follow each other share blocks of memory
// (kBlockBytes): they are kept and let go of together, and a thousand publishers would otherwise wait for the memory of each one.
// Not here: what a message means. The chunk size and the abort message reach it through set_chunk_size() and abort(), because
// their owner has limits to apply first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/chunk_follower.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

class ChunkReader {
public:
    struct Limits {
        // The longest message that is accepted.
        std::size_t message_bytes = 10 << 20;
        // The sum of the lengths of all messages that have begun and not ended: a peer may interleave, but not hoard.
        std::size_t pending_bytes = 20 << 20;
        // Chunk streams a peer may use.
        std::size_t chunk_streams = 64;
    };

    // Of a block that messages share. 16 KiB with what Slice and the heap put in front.
    static constexpr std::size_t kBlockBytes = (16 << 10) - 32;
    // The longest message that shares one. Each block is at least half used, then.
    static constexpr std::size_t kSharedBytesMax = kBlockBytes / 2;

    ChunkReader() : ChunkReader(Limits{}) {}
    explicit ChunkReader(Limits limits) : limits_(limits), follower_(limits.chunk_streams) {}

    // Of a message that shares none, what there is room for when it begins, and how much more at most is added at a time: memory
    // follows the bytes that come, not the length that a peer declares.
    static constexpr std::size_t kFirstBytes = 64 << 10;
    static constexpr std::size_t kMoreBytesMax = 1 << 20;

    // Takes bytes from the front of `input` until a message is complete or `input` is empty, and moves `input` behind what it
    // took. Call again while it gives messages. Errc::malformed and Errc::limit are final: the place in the stream is lost.
    Result<std::optional<Message>> read(Bytes& input);

    // The peer's chunks carry up to `bytes` of payload from now on; at least 1. Takes effect with the next chunk.
    void set_chunk_size(std::uint32_t bytes) { follower_.set_chunk_size(bytes); }
    std::uint32_t chunk_size() const { return follower_.chunk_size(); }

    // The bounds of messages that begin from now on.
    void set_limits(const Limits& limits) {
        limits_ = limits;
        follower_.set_chunk_streams_max(limits.chunk_streams);
    }

    // Forgets the part of a message that has come on this chunk stream (RTMP 1.0, section 5.4.2). Nothing to do when there is
    // none.
    void abort(std::uint32_t chunk_stream);

    // Of memory, for messages that have begun and not ended.
    std::size_t held_bytes() const { return held_bytes_; }

    // Gives back memory that only a busy peer needs.
    void release_buffers() {
        follower_.release_buffers();
        payloads_.shrink_to_fit();
        block_ = Slice();
        room_ = {};
    }

private:
    // Of a message that has begun.
    struct Payload {
        Slice slice;
        std::uint8_t* bytes = nullptr;  // the slice's, for writing
    };

    Result<void> begin_message(std::size_t index);
    static Payload allocate(std::size_t length);
    void make_room(Payload& payload, std::size_t needed, std::size_t length);
    Payload carve(std::size_t length);

    Limits limits_;
    ChunkFollower follower_;
    std::vector<Payload> payloads_;  // by the follower's index
    Slice block_;
    MutBytes room_;                  // what is left of it
    std::size_t pending_bytes_ = 0;  // as declared
    std::size_t held_bytes_ = 0;     // as taken
};

}  // namespace live::wire::rtmp
