// Splits messages into chunks (RTMP 1.0, section 5.3). Stateless: the caller chooses each header, so that the same bytes can be
// built once and sent to many clients. Does not choose a header form from earlier messages: commands always use type 0, and the
// media core decides when its wire logs may use type 1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

// One chunk header, by value. At most 3 bytes of basic header, 11 of message header, 4 of extended timestamp.
struct HeaderBytes {
    std::array<std::uint8_t, 18> bytes{};
    std::uint8_t size = 0;

    Bytes view() const { return Bytes(bytes).first(size); }
};

// All three abort when the chunk stream is not in 2..65599 or the length is above kMessageLengthMax: we choose both.

// A full header: absolute timestamp, length, type, stream. Has an extended timestamp when the time is 0xFFFFFF or above; every
// type 3 chunk of the message must then repeat it.
HeaderBytes type0_header(std::uint32_t chunk_stream, std::uint32_t timestamp_ms, std::uint32_t length, MessageType type,
                         std::uint32_t stream_id);

// Timestamp as a delta to the previous message on this chunk stream, length and type. `delta_ms` must be below 0xFFFFFF.
HeaderBytes type1_header(std::uint32_t chunk_stream, std::uint32_t delta_ms, std::uint32_t length, MessageType type);

// Continues a message. `extended_ms` is the extended timestamp of the message's first chunk, if it had one.
HeaderBytes type3_header(std::uint32_t chunk_stream, std::optional<std::uint32_t> extended_ms = std::nullopt);

// Appends one complete message, type 0 first, in chunks of `chunk_size` (at least 1) payload bytes. Returns the bytes written.
// `payload_header` precedes the payload and belongs to the message.
std::size_t write_message(ByteWriter& out, std::uint32_t chunk_stream, MessageType type, std::uint32_t timestamp_ms,
                          std::uint32_t stream_id, Bytes payload, std::uint32_t chunk_size, Bytes payload_header = {});

}  // namespace live::wire::rtmp
