// When a message left its publisher, written into the media itself, so that a player on any server's other side can tell how long
// it took. In H.264 it is an SEI message that no decoder minds ("user data unregistered", H.264 D.2.7): 40 bytes in front of a
// frame. Where there is none, it is an AMF data message of its own, for servers that pass data on. Both ends read the system's
// clock: between two machines it must be in step.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"

namespace live::bench {

using SystemMicros = std::chrono::microseconds;  // since 1970

// The body of a video tag with the stamp in front of its first frame data. Nothing when the tag is not H.264 frames in the
// classic form; NAL units must have lengths of four bytes, which has_long_nal_lengths() tells.
std::optional<std::vector<std::uint8_t>> stamped_video(Bytes body, SystemMicros now);
// Of the body of an H.264 sequence header.
bool has_long_nal_lengths(Bytes body);

// The SEI message alone, a NAL unit.
std::vector<std::uint8_t> stamp_unit(SystemMicros now);

// The body of an AMF0 data message that says the time.
std::vector<std::uint8_t> stamp_message(SystemMicros now);

// The stamp of a message, of which the first 64 bytes are enough.
std::optional<SystemMicros> find_video_stamp(Bytes head);
std::optional<SystemMicros> find_data_stamp(Bytes head);
// The stamp in a payload of RTP with H.264: a NAL unit alone, or among several small ones (RFC 6184, 5.7.1).
std::optional<SystemMicros> find_packet_stamp(Bytes payload);

}  // namespace live::bench
