// Which kinds of media a player of an HTTP live stream is promised: what its FLV header says, and what it then gets.
#pragma once

#include <cstdint>
#include <optional>

#include "media/source.hpp"
#include "session/http_live/options.hpp"

namespace live::session::http_live {

struct Tracks {
    media::KindSet announced;
    media::KindSet sent;
};

// A stream of one kind counts as such after this many packets of it.
inline constexpr std::uint64_t kSurePackets = 10;

// None while not enough has been published. Containers of audio alone wait until it is known what the audio is.
std::optional<Tracks> decide_tracks(const media::Source& source, media::Container container, const RemuxOptions& options);

// How far back in the ring the newest audio is looked for, in packets: kinds alternate.
inline constexpr std::uint64_t kLookBack = 64;

// Errc::unsupported when the stream's audio is known not to be what an .aac or .mp3 file holds.
Result<void> check_codec(const media::Source& source, media::Container container);

}  // namespace live::session::http_live
