// The parts of the moov box that fragmented and progressive files share (ISO/IEC 14496-12, 8): who the tracks are. What their
// samples are, the caller writes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/byte_writer.hpp"
#include "base/time.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

// Ticks a second of the movie's own clock, in which its duration is said.
inline constexpr std::uint32_t kMovieTimescale = 1'000;

struct TrackHeader {
    std::uint32_t id = 1;           // from one
    std::uint64_t media_ticks = 0;  // of the track's clock; 0 when fragments follow
    std::uint64_t movie_ticks = 0;  // the same in the movie's, with `delay_ticks`
    std::uint64_t delay_ticks = 0;  // of the movie's clock, before the first sample
};

// ftyp: a file of fragments, or a whole movie.
void write_fragmented_type(ByteWriter& out);
void write_movie_type(ByteWriter& out);

// mvhd. `next_track` is one above the last track's id.
void write_movie_header(ByteWriter& out, std::uint64_t movie_ticks, std::uint32_t next_track);

// trak. `write_tables` writes what belongs into stbl behind stsd.
void write_track(ByteWriter& out, const TrackHeader& header, const TrackFormat& format,
                 const std::function<void()>& write_tables);

}  // namespace live::wire::mp4
