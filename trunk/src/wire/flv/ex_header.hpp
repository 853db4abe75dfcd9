// Common parts of the enhanced audio and video tag headers (E-RTMP v2, "ExAudioTagHeader", "ExVideoTagHeader"): modifier
// extensions, the multitrack switch, the FourCC, and iteration over tracks. Included only by the .cpp files beside it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/bytes/byte_reader.hpp"
#include "wire/flv/body_header.hpp"

namespace live::wire::flv {

inline constexpr std::size_t kModExMax = 16;  // extensions before one packet
inline constexpr std::uint8_t kModEx = 7;     // the same packet type in both headers
inline constexpr std::uint8_t kAudioMultitrack = 5;
inline constexpr std::uint8_t kVideoMultitrack = 6;

enum class MultitrackType : std::uint8_t { one_track = 0, many_tracks = 1, many_tracks_many_codecs = 2 };

struct ExHeader {
    std::uint8_t packet_type = 0;
    std::optional<MultitrackType> multitrack;
    std::uint32_t fourcc = 0;  // 0 when each track has its own
    std::chrono::nanoseconds timestamp_offset{};
};

struct ExTrack {
    std::uint32_t fourcc = 0;
    int track_id = 0;
    Bytes body;
};

// Reads extensions as long as the packet type announces one; afterwards header.packet_type is that of the extended packet.
// Offsets are capped at the 999,999 ns that the specification allows. Errc::limit above kModExMax, Errc::malformed for an offset
// of less than three bytes.
Result<void> read_mod_ex(ByteReader& in, ExHeader& header);

// Reads the multitrack switch, if the packet type equals `multitrack_code`, and the FourCC.
Result<void> read_multitrack_and_fourcc(ByteReader& in, std::uint8_t multitrack_code, ExHeader& header);

// The bytes of the next track: all remaining input without multitrack or with one track.
Result<ExTrack> read_track(ByteReader& in, const ExHeader& header);

// Writes a OneTrack message up to its body; `first` is the first byte.
void write_one_track_header(BodyHeader& out, std::uint8_t first, std::uint8_t packet_type, std::uint32_t fourcc, int track_id);

}  // namespace live::wire::flv
