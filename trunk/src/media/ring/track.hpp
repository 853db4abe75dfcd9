// Track: what is known about one elementary stream of a source. Its packets carry its id and codec; the rest is here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "media/ring/packet.hpp"
#include "wire/codec/video/captions.hpp"

namespace live::media {

// The audio format in a container's header, for codecs whose configuration lacks it; 0 if unknown.
struct AudioFormat {
    std::uint32_t sample_rate = 0;
    std::uint8_t channels = 0;

    bool operator==(const AudioFormat&) const = default;
};

// A further publisher that adds tracks to a stream: see media/ingest/rendition.hpp. `none`: the stream's own publisher.
enum class RenditionId : std::uint32_t { none };

struct Track {
    TrackId id{};
    MediaKind kind = MediaKind::audio;
    Codec codec = Codec::none;
    AudioFormat audio;
    Slice config;  // avcC, hvcC, av1C, AudioSpecificConfig, OpusHead, ...; empty for codecs without one
    std::string language;
    std::string name;
    RenditionId rendition = RenditionId::none;
    std::uint8_t nal_length_size = 4;
    wire::codec::CaptionFinder captions;  // of video, as long as this publisher is there
};

// One track of each kind; the default track if unset.
struct TrackChoice {
    std::optional<TrackId> audio;
    std::optional<TrackId> video;

    bool is_default() const { return !audio && !video; }
    bool has(const Packet& packet) const {
        const std::optional<TrackId>& named = packet.kind == MediaKind::audio ? audio : video;
        return named ? packet.track == *named : !packet.extra;
    }
    bool operator==(const TrackChoice&) const = default;
};

}  // namespace live::media
