// LiveFormat: the formats of HTTP live streams. A row of the table below has all properties of a format that this folder needs;
// its Container makes its bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "media/source/source.hpp"
#include "media/wire_log/flv_wire_encoder.hpp"

namespace live::session::http_live {

// An audio-only format.
struct AudioFormat {
    media::Codec codec = media::Codec::none;
    std::string_view name;
};

struct LiveFormat {
    media::Container container;
    std::string_view ending;  // file extension
    std::string_view content_type;
    std::optional<AudioFormat> audio{};
    // Sent first to each player; nullptr: nothing.
    std::vector<std::uint8_t> (*file_head)(media::Framing, MediaKindSet) = nullptr;
};

inline constexpr std::array kLiveFormats = {
    LiveFormat{media::Container::flv, ".flv", "video/x-flv", {}, media::flv_file_head},
    LiveFormat{media::Container::ts, ".ts", "video/MP2T"},
    LiveFormat{media::Container::aac, ".aac", "audio/x-aac", AudioFormat{media::Codec::aac, "AAC"}},
    LiveFormat{media::Container::mp3, ".mp3", "audio/mpeg", AudioFormat{media::Codec::mp3, "MP3"}},
};

// The table's row for `container`.
constexpr const LiveFormat& live_format(media::Container container) {
    return *std::ranges::find(kLiveFormats, container, &LiveFormat::container);
}

}  // namespace live::session::http_live
