// Decides the kinds of media that the FLV header announces to an HTTP live player, and that the player then receives.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "media/source/source.hpp"
#include "session/http_live/options.hpp"

namespace live::session::http_live {

struct Tracks {
    MediaKindSet announced;
    MediaKindSet sent;
};

// A stream counts as single-kind after this many packets of that kind.
inline constexpr std::uint64_t kSurePackets = 10;

// Or this long after its first frame arrived: there may be only one frame per second.
inline constexpr std::chrono::milliseconds kSureAfter{1'000};

// Returns when a stream that has had frames of only one kind counts as audio only or video only; nullopt if it has had no
// frame.
std::optional<TimePoint> sure_at(const media::Source& source);

// None until enough has been published. Audio-only containers wait until the audio codec is known.
std::optional<Tracks> decide_tracks(const media::Source& source, media::Container container, const RemuxOptions& options,
                                    TimePoint now);

// How far back in the ring to look for the newest audio, in packets: kinds alternate.
inline constexpr std::uint64_t kLookBack = 64;

// Errc::unsupported when the stream's audio is known not to fit an .aac or .mp3 file.
Result<void> check_codec(const media::Source& source, media::Container container);

}  // namespace live::session::http_live
