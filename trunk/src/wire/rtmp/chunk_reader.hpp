// Puts messages together from chunks (RTMP 1.0, section 5.3). A push parser: it is fed whatever arrived, keeps a header that was
// cut itself, and copies every payload byte exactly once, into the Slice that leaves as the message. Not here: what a message
// means. The chunk size and the abort message reach it through set_chunk_size() and abort(), because their owner has limits to
// apply first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
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

    ChunkReader() : ChunkReader(Limits{}) {}
    explicit ChunkReader(Limits limits) : limits_(limits) {}

    // Takes bytes from the front of `input` until a message is complete or `input` is empty, and moves `input` behind what it
    // took. Call again while it gives messages. Errc::malformed and Errc::limit are final: the place in the stream is lost.
    Result<std::optional<Message>> read(Bytes& input);

    // The peer's chunks carry up to `bytes` of payload from now on; at least 1. Takes effect with the next chunk.
    void set_chunk_size(std::uint32_t bytes);
    std::uint32_t chunk_size() const { return chunk_size_; }

    // The bounds of messages that begin from now on.
    void set_limits(const Limits& limits) { limits_ = limits; }

    // Forgets the part of a message that has come on this chunk stream (RTMP 1.0, section 5.4.2). Nothing to do when there is
    // none.
    void abort(std::uint32_t chunk_stream);

    // Gives back memory that only a busy peer needs.
    void release_buffers() { streams_.shrink_to_fit(); }

private:
    // What a chunk stream remembers from its last header, and the message it is in the middle of.
    struct Stream {
        std::uint32_t id = 0;
        std::uint32_t timestamp_ms = 0;
        // Added when a type 3 chunk begins a message: the last delta, or the last absolute time after a type 0.
        std::uint32_t delta_ms = 0;
        std::uint32_t length = 0;
        std::uint32_t stream_id = 0;
        std::uint32_t filled = 0;
        MessageType type{};
        bool extended = false;
        bool in_message = false;
        Slice payload;
    };
    struct Header {
        std::uint8_t format = 0;
        std::uint8_t size = 0;
        MessageType type{};
        bool extended = false;
        std::uint32_t chunk_stream = 0;
        std::uint32_t time_ms = 0;
        std::uint32_t length = 0;
        std::uint32_t stream_id = 0;
    };
    static constexpr std::size_t kHeaderBytesMax = 18;

    Result<bool> begin_chunk(Bytes& input);
    std::optional<Header> parse_header(Bytes input);
    std::optional<bool> repeats_extended_time(const Stream& stream, Bytes input) const;
    Stream* find(std::uint32_t chunk_stream);
    Result<void> enter(const Header& header);
    Result<void> begin_message(Stream& stream, const Header& header);
    std::size_t fill(Stream& stream, Bytes from);
    void drop_held(std::size_t count);
    Message finish(Stream& stream);

    Limits limits_;
    std::vector<Stream> streams_;
    std::size_t current_ = 0;
    std::size_t pending_bytes_ = 0;
    std::uint32_t chunk_size_ = kChunkSizeInitial;
    std::uint32_t chunk_left_ = 0;
    bool in_chunk_ = false;
    std::uint8_t held_size_ = 0;
    std::array<std::uint8_t, kHeaderBytesMax> held_{};
};

}  // namespace live::wire::rtmp
