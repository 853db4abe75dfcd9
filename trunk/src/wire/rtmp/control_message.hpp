// Protocol control messages (RTMP 1.0, sections 5.4 and 6.2): chunk size, abort, acknowledgements, windows, user control. The
// engine acts on them; this file only parses and writes them.
#pragma once

#include <cstdint>
#include <variant>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

// 1..2^31-1; other values are rejected.
struct SetChunkSize {
    std::uint32_t bytes = 0;
    bool operator==(const SetChunkSize&) const = default;
};
struct Abort {
    std::uint32_t chunk_stream = 0;
    bool operator==(const Abort&) const = default;
};
// Bytes received so far, modulo 2^32.
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
// RTMP 1.0, section 7.1.7. Some events of common players are not in the specification; they are parsed and ignored.
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
    // The stream ID, or a ping's timestamp in milliseconds. Zero for events not named here.
    std::uint32_t value = 0;
    // Only with set_buffer_length.
    std::uint32_t buffer_ms = 0;
    bool operator==(const UserControl&) const = default;
};

using ControlMessage = std::variant<SetChunkSize, Abort, Acknowledgement, WindowAckSize, SetPeerBandwidth, UserControl>;

bool is_control(MessageType type);

// Errc::need_more when the payload is too short, Errc::malformed for invalid values, Errc::unsupported when `type` is not a
// control message. Bytes after the known fields are ignored.
Result<ControlMessage> parse_control(MessageType type, Bytes payload);

// Appends a complete message: chunk stream 2, message stream 0, timestamp 0, one chunk. The longest payload is 10 bytes, so it
// fits into one chunk at any chunk size that an engine accepts.
void write_control(ByteWriter& out, const ControlMessage& message);

}  // namespace live::wire::rtmp
