// The sending time of a message, embedded in the media, so that a player behind any server can measure the delay. In H.264 it is
// an SEI message that decoders ignore ("user data unregistered", H.264 D.2.7): 40 bytes before a frame. Otherwise it is a
// separate AMF data message, for servers that pass data on. Both ends use the system's clock: two machines must have synchronised
// clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::bench {

using SystemMicros = std::chrono::microseconds;  // since 1970

inline SystemMicros wall_clock() {
    return std::chrono::duration_cast<SystemMicros>(std::chrono::system_clock::now().time_since_epoch());
}

// The body of a video tag with the stamp before its first frame data. Nothing when the tag is not H.264 frames in the classic
// form; NAL units must have four-byte lengths, see has_long_nal_lengths().
std::optional<std::vector<std::uint8_t>> stamped_video(Bytes body, SystemMicros now);
// Checks the body of an H.264 sequence header.
bool has_long_nal_lengths(Bytes body);

// The SEI message alone, a NAL unit.
std::vector<std::uint8_t> stamp_unit(SystemMicros now);

// The body of an AMF0 data message with the time.
std::vector<std::uint8_t> stamp_message(SystemMicros now);

// The stamp of a message; the first 64 bytes of the message are enough.
std::optional<SystemMicros> find_video_stamp(Bytes head);
std::optional<SystemMicros> find_data_stamp(Bytes head);
// The stamp in an RTP payload of H.264: a single NAL unit, or one of several small ones (RFC 6184, 5.7.1).
std::optional<SystemMicros> find_packet_stamp(Bytes payload);

}  // namespace live::bench
