// The protocol's own messages (RTMP 1.0, sections 5.4 and 6.2): chunk size, abort, acknowledgements, windows, user control. Not
// here: what to do about them, which is the engine's.
#pragma once

#include <cstdint>
#include <variant>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

// 1..2^31-1; anything else does not parse.
struct SetChunkSize {
    std::uint32_t bytes = 0;
    bool operator==(const SetChunkSize&) const = default;
};
struct Abort {
    std::uint32_t chunk_stream = 0;
    bool operator==(const Abort&) const = default;
};
// How much has been received so far, modulo 2^32.
struct Acknowledgement {
    std::uint32_t bytes_received = 0;
    bool operator==(const Acknowledgement&) const = default;
};
struct WindowAckSize {
    std::uint32_t bytes = 0;
    bool operator==(const WindowAckSize&) const = default;
};
struct SetPeerBandwidth {
    enum class Limit : std::uint8_t { hard = 0, soft = 1, dynamic = 2 };

    std::uint32_t bytes = 0;
    Limit limit = Limit::dynamic;
    bool operator==(const SetPeerBandwidth&) const = default;
};
// RTMP 1.0, section 7.1.7. Some events of common players have no name in the text; they are carried and ignored.
struct UserControl {
    enum class Event : std::uint16_t {
        stream_begin = 0,
        stream_eof = 1,
        stream_dry = 2,
        set_buffer_length = 3,
        stream_is_recorded = 4,
        ping_request = 6,
        ping_response = 7,
    };

    Event event{};
    // The stream id, or the time of a ping in milliseconds. Zero for events without a name.
    std::uint32_t value = 0;
    // Only with set_buffer_length.
    std::uint32_t buffer_ms = 0;
    bool operator==(const UserControl&) const = default;
};

using ControlMessage = std::variant<SetChunkSize, Abort, Acknowledgement, WindowAckSize, SetPeerBandwidth, UserControl>;

bool is_control(MessageType type);

// Errc::need_more when the payload is too short, Errc::malformed when it says what cannot be, Errc::unsupported when `type` is
// not a control message. Bytes after the known fields are ignored.
Result<ControlMessage> parse_control(MessageType type, Bytes payload);

// Appends the whole message: chunk stream 2, message stream 0, time 0, one chunk. The longest payload is 10 bytes, so no chunk
// size that an engine admits cuts it.
void write_control(ByteWriter& out, const ControlMessage& message);

}  // namespace live::wire::rtmp
