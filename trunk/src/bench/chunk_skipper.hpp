// Follows an RTMP chunk stream without keeping what it carries (RTMP 1.0, section 5.3): for load players, of which one core has
// ten thousand. It gives each message's type, time and length; of media only the first bytes, of control and command messages
// all. The peer's chunk size and aborts are applied inside. What a server needs, putting messages together within limits, is
// wire/rtmp/chunk_reader.hpp; both must read the same messages from the same bytes, and the fuzz target checks that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/message.hpp"

namespace live::bench {

struct SkippedMessage {
    wire::rtmp::MessageType type{};
    std::uint32_t timestamp_ms = 0;
    std::uint32_t length = 0;
    // All of a control or command message, the first ChunkSkipper::kHeadBytes of others. Good until the next read().
    Bytes head;
};

class ChunkSkipper {
public:
    static constexpr std::size_t kHeadBytes = 64;
    // The longest message that is kept whole; Errc::limit above.
    static constexpr std::size_t kWholeBytesMax = 64 << 10;
    static constexpr std::size_t kChunkStreamsMax = 64;

    // Takes bytes from the front of `input` until a message is complete or `input` is empty. Call again while it gives messages.
    // Errc::malformed and Errc::limit are final.
    Result<std::optional<SkippedMessage>> read(Bytes& input);

    std::uint32_t chunk_size() const { return chunk_size_; }

private:
    // What a chunk stream remembers from its last header, and the message it is in the middle of.
    struct Stream {
        std::uint32_t id = 0;
        std::uint32_t timestamp_ms = 0;
        std::uint32_t delta_ms = 0;  // what a type 3 chunk adds when it begins a message
        std::uint32_t length = 0;
        std::uint32_t filled = 0;
        wire::rtmp::MessageType type{};
        bool extended = false;
        bool in_message = false;
        std::array<std::uint8_t, kHeadBytes> head{};
        std::vector<std::uint8_t> whole;
    };
    struct Header {
        std::uint8_t format = 0;
        std::uint8_t size = 0;
        wire::rtmp::MessageType type{};
        bool extended = false;
        std::uint32_t chunk_stream = 0;
        std::uint32_t time_ms = 0;
        std::uint32_t length = 0;
    };
    static constexpr std::size_t kHeaderBytesMax = 18;

    Result<bool> begin_chunk(Bytes& input);
    std::optional<Header> parse_header(Bytes input);
    std::optional<bool> repeats_extended_time(const Stream& stream, Bytes input) const;
    Stream* find(std::uint32_t chunk_stream);
    Result<void> enter(const Header& header);
    Result<void> begin_message(Stream& stream, const Header& header);
    std::size_t take(Stream& stream, Bytes from);
    void drop_held(std::size_t count);
    Result<SkippedMessage> finish(Stream& stream);
    Result<void> apply(const SkippedMessage& message);

    std::vector<Stream> streams_;
    std::size_t current_ = 0;
    std::uint32_t chunk_size_ = wire::rtmp::kChunkSizeInitial;
    std::uint32_t chunk_left_ = 0;
    bool in_chunk_ = false;
    std::uint8_t held_size_ = 0;
    std::array<std::uint8_t, kHeaderBytesMax> held_{};
};

}  // namespace live::bench
