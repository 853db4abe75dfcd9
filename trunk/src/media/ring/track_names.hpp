// Reads the languages and names of tracks from a publisher's metadata (E-RTMP v2, "Enhancing onMetaData": audioTrackIdInfoMap
// and videoTrackIdInfoMap, objects with a member for each track id), for viewers who choose a track.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "media/ring/packet.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {

struct TrackName {
    static constexpr std::size_t kLanguageBytesMax = 35;  // RFC 5646, 4.4.1
    static constexpr std::size_t kNameBytesMax = 128;

    MediaKind kind = MediaKind::audio;
    TrackId id{};
    std::string language;  // a tag of letters, digits and dashes; empty when it is not known
    std::string name;      // UTF-8 without control characters; empty as well

    bool operator==(const TrackName&) const = default;
};

// Whether `text` is UTF-8 without control characters and not too long; empty is.
bool is_track_name(std::string_view text);

// Returns the first `count_max` of each kind, without texts that are too long or invalid.
std::vector<TrackName> read_track_names(const wire::amf::Value& metadata, std::size_t count_max);

}  // namespace live::media
