// Follows an RTMP chunk stream without storing payload (RTMP 1.0, section 5.3): for load players, of which one core runs ten
// thousand. It returns each message's type, time and length; of media only the first bytes, of control and command messages
// everything. The peer's chunk size and aborts are applied inside. The server's reader, which assembles messages within limits,
// is wire/rtmp/chunk_reader.hpp; both must read the same messages from the same bytes, which the fuzz target checks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/chunk_follower.hpp"
#include "wire/rtmp/message.hpp"

namespace live::bench {

struct SkippedMessage {
    wire::rtmp::MessageType type{};
    std::uint32_t timestamp_ms = 0;
    std::uint32_t length = 0;
    // All of a control or command message, the first ChunkSkipper::kHeadBytes of others. Valid until the next read().
    Bytes head;
};

class ChunkSkipper {
public:
    static constexpr std::size_t kHeadBytes = 64;
    // The longest message that is kept whole; Errc::limit above.
    static constexpr std::size_t kWholeBytesMax = 64 << 10;
    static constexpr std::size_t kChunkStreamsMax = 64;

    // Takes bytes from the front of `input` until a message is complete or `input` is empty. Call again while it returns
    // messages. Errc::malformed and Errc::limit are final.
    Result<std::optional<SkippedMessage>> read(Bytes& input);

    std::uint32_t chunk_size() const { return follower_.chunk_size(); }

private:
    // Stored part of a chunk stream's message.
    struct Kept {
        std::array<std::uint8_t, kHeadBytes> head{};
        std::vector<std::uint8_t> whole;
    };

    Result<SkippedMessage> finish(std::size_t index);
    Result<void> apply(const SkippedMessage& message);

    wire::rtmp::ChunkFollower follower_{kChunkStreamsMax};
    std::vector<Kept> kept_;  // by the follower's index
};

}  // namespace live::bench
