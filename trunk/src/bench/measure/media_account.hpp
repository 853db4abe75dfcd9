// Audio and video messages counted at one end of a stream: sent by a publisher, or received by a player that parses everything.
// Without loss both are equal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "wire/flv/flv_file.hpp"

namespace live::bench {

struct MediaAccount {
    std::uint64_t audio_messages = 0;
    std::uint64_t video_messages = 0;
    std::uint64_t bytes = 0;  // of their payload, codec configurations included
    std::uint64_t times_went_back = 0;

    // Messages of one stream, in order. Other types are ignored.
    void add(wire::flv::TagType type, std::uint32_t timestamp_ms, std::size_t payload_bytes) {
        const bool is_video = type == wire::flv::TagType::video;
        if (!is_video && type != wire::flv::TagType::audio)
            return;
        (is_video ? video_messages : audio_messages) += 1;
        bytes += payload_bytes;
        std::optional<std::uint32_t>& last = last_ms_[is_video ? 1 : 0];
        // RTMP's clock wraps.
        times_went_back += last && static_cast<std::int32_t>(timestamp_ms - *last) < 0 ? 1 : 0;
        last = timestamp_ms;
    }
    // Adds the counters of another stream. Times are compared within one stream only.
    void add(const MediaAccount& other) {
        audio_messages += other.audio_messages;
        video_messages += other.video_messages;
        bytes += other.bytes;
        times_went_back += other.times_went_back;
    }

private:
    std::array<std::optional<std::uint32_t>, 2> last_ms_;
};

}  // namespace live::bench
