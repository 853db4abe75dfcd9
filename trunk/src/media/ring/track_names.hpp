// What a publisher's metadata says of its tracks (E-RTMP v2, "Enhancing onMetaData": audioTrackIdInfoMap and videoTrackIdInfoMap,
// objects with a member for each track id): their languages and names, for viewers who choose. Dry.
#pragma once

#include <string>
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

// At most `count_max` of each kind, the first ones. What is longer, or no such text, is left out.
std::vector<TrackName> read_track_names(const wire::amf::Value& metadata, std::size_t count_max);

}  // namespace live::media
