// The parts of the moov box that fragmented and progressive files share (ISO/IEC 14496-12, 8): the track descriptions. The caller
// writes the sample tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/time.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

// Ticks per second of the movie clock, used for its duration.
inline constexpr std::uint32_t kMovieTimescale = 1'000;

struct TrackHeader {
    std::uint32_t id = 1;           // starting at one
    std::uint64_t media_ticks = 0;  // duration on the track's clock; 0 when fragments follow
    std::uint64_t movie_ticks = 0;  // the same on the movie clock, including `delay_ticks`
    std::uint64_t delay_ticks = 0;  // on the movie clock, before the first sample is presented
    std::uint64_t first_ticks = 0;  // on the track's clock: presentation of the first sample, which is decoded at zero
    // Media before first_ticks is decoded and not presented, also without a delay.
    bool is_cut = false;
    // Instead of the format's, for a track whose codec configuration changes.
    std::span<const std::vector<std::uint8_t>> sample_entries{};
};

// ftyp of a fragmented file, and of a complete movie.
void write_fragmented_type(ByteWriter& out);
void write_movie_type(ByteWriter& out);

// mvhd. `next_track` is the last track's ID plus one.
void write_movie_header(ByteWriter& out, std::uint64_t movie_ticks, std::uint32_t next_track);

// trak. `write_tables` writes the rest of stbl after stsd.
void write_track(ByteWriter& out, const TrackHeader& header, const TrackFormat& format,
                 const std::function<void()>& write_tables);

}  // namespace live::wire::mp4
