// Facts about a stream's codecs for the API, in the family's terms, from the configurations of its tracks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/media_kind.hpp"
#include "media/ring/track.hpp"

namespace live::service::stats {

struct VideoFacts {
    std::string codec;    // "H264", "HEVC", "AV1", "VP6", "Other(...)"
    std::string profile;  // "High", "Main10", ..., "Other"
    std::string level;    // "3.1", ..., "Other"
    std::uint32_t width = 0;
    std::uint32_t height = 0;

    bool operator==(const VideoFacts&) const = default;
};

struct AudioFacts {
    std::string codec;  // "AAC", "MP3", "Opus", "Other(...)"
    std::uint32_t sample_rate = 0;
    std::uint32_t channels = 0;
    std::string profile;    // "LC", ..., "Other"
    std::string problem{};  // why most outputs leave it out; empty: they carry it

    bool operator==(const AudioFacts&) const = default;
};

// One track of a stream. `video` or `audio` is set, as `kind` is.
struct TrackFacts {
    MediaKind kind = MediaKind::video;
    std::uint32_t id = 0;
    bool is_default = false;    // players without multitrack support get it
    bool is_rendition = false;  // made by this server or by a further publisher
    std::string language{};     // a tag of RFC 5646; empty if unknown
    std::string name{};
    std::vector<std::string> captions{};  // closed captions in the video: CC1 to CC4, SERVICE1 to SERVICE63
    std::optional<VideoFacts> video{};
    std::optional<AudioFacts> audio{};
};

// Unknown fields stay empty.
VideoFacts video_facts_of(const media::Track& track);
AudioFacts audio_facts_of(const media::Track& track);

// For an RTP track, from its name in SDP and its a=fmtp. SDP does not give the size.
VideoFacts video_facts_of(std::string_view codec, std::string_view format);
AudioFacts audio_facts_of(std::string_view codec, std::uint32_t clock_rate, std::uint8_t channels);

// "High(422+Intra)" and similar (ITU-T H.264, A.2), from the bytes of the decoder configuration.
std::string avc_profile_text(std::uint8_t profile, std::uint8_t compatibility);
// level_idc: 31 is "3.1", 9 is "1b".
std::string avc_level_text(std::uint8_t level);
std::string hevc_profile_text(std::uint8_t profile);
// general_level_idc, 30 times the number.
std::string hevc_level_text(std::uint8_t level);
// seq_level_idx (AV1 Bitstream & Decoding Process, A.3).
std::string av1_level_text(std::uint8_t level);

}  // namespace live::service::stats
