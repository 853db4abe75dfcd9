// Follows chunk streams (RTMP 1.0, section 5.3): determines which bytes are payload of which message, and keeps only partial
// headers. Accepts input in any portions. The owner handles the payload: ChunkReader assembles messages, the load tools only
// count them. The peer's chunk size and aborts are set from outside, because the owner applies its limits first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

class ChunkFollower {
public:
    // State of a chunk stream from its last header, for its current or last message.
    struct Stream {
        std::uint32_t id = 0;
        std::uint32_t timestamp_ms = 0;
        // Added when a type 3 chunk begins a message: the last delta, or the last absolute timestamp after a type 0.
        std::uint32_t delta_ms = 0;
        std::uint32_t length = 0;
        std::uint32_t stream_id = 0;
        std::uint32_t filled = 0;
        MessageType type{};
        bool extended = false;
        bool in_message = false;
    };
    // A contiguous part of one message's payload.
    struct Piece {
        std::size_t index = 0;  // of its chunk stream, in order of first appearance
        std::uint32_t at = 0;   // offset in the message
        bool begins = false;    // first piece of its message
        bool ends = false;      // last piece of its message
        Bytes payload;          // borrowed until the next call; may be empty
    };

    explicit ChunkFollower(std::size_t chunk_streams_max) : chunk_streams_max_(chunk_streams_max) {}

    // Takes a piece from the front of `input`, or all of it when only a partial header is left. Call again until it returns
    // nullopt. Errc::malformed and Errc::limit (chunk streams) are final: chunk synchronisation is lost.
    Result<std::optional<Piece>> next(Bytes& input);
    const Stream& stream(std::size_t index) const { return streams_[index]; }

    // Sets the peer's chunk size; at least 1. Takes effect with the next chunk.
    void set_chunk_size(std::uint32_t bytes) {
        CHECK(bytes > 0);
        chunk_size_ = bytes;
    }
    std::uint32_t chunk_size() const { return chunk_size_; }
    void set_chunk_streams_max(std::size_t count) { chunk_streams_max_ = count; }

    // Discards the partial message on this chunk stream (RTMP 1.0, section 5.4.2) and returns its index; nullopt when there is
    // none.
    std::optional<std::size_t> abort(std::uint32_t chunk_stream);

    // Releases memory that only an active peer needs.
    void release_buffers() { streams_.shrink_to_fit(); }

private:
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
    static std::optional<bool> repeats_extended_time(const Stream& stream, Bytes input);
    Stream* find(std::uint32_t chunk_stream);
    Result<void> enter(const Header& header);
    static void begin_message(Stream& stream, const Header& header);
    void drop_held(std::size_t count);

    std::vector<Stream> streams_;
    std::size_t chunk_streams_max_;
    std::size_t current_ = 0;
    std::uint32_t chunk_size_ = kChunkSizeInitial;
    std::uint32_t chunk_left_ = 0;  // remaining payload of the current chunk
    bool begins_ = false;
    std::uint8_t held_size_ = 0;
    std::uint8_t held_taken_ = 0;  // held bytes that the last piece consumed
    std::array<std::uint8_t, kHeaderBytesMax> held_{};
};

}  // namespace live::wire::rtmp
