// MovieWriter: a progressive MP4 file (ISO/IEC 14496-12), as a recording is written: media first, the header that says where it
// all is at the end. Until then it is a file of fragments, which plays up to its last flush whatever happens to the process. What
// was written is never touched again, but for 16 bytes when the file is closed: a free box in front of the fragments becomes one
// mdat around all of them, and only the header at the end is left to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/file_patch.hpp"
#include "base/result.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/sample_table.hpp"
#include "wire/mp4/track_clock.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

class MovieWriter {
public:
    static constexpr std::size_t kTracksMax = FragmentWriter::kTracksMax;
    // Of one track: three weeks of video at 60 a second are more than that, a week is less.
    static constexpr std::size_t kSamplesMax = std::size_t{1} << 26;
    // Of media that was pushed and not flushed.
    static constexpr std::size_t kHeldBytesMax = 64U << 20;
    static constexpr std::size_t kHeldSamplesMax = 16'384;

    // What a new file begins with.
    void begin(ByteWriter& out);
    // At any time; gives the name for push(). Errc::limit.
    Result<std::size_t> add_track(TrackFormat format);
    // Errc::limit: flush first, or with kSamplesMax begin a new file.
    Result<void> push(std::size_t track, Sample sample);
    // Appends what was pushed since the last flush, track by track. A track that comes after the first flush is only played when
    // the file was closed.
    void flush(ByteWriter& out);
    // Only `end` bytes of the file could be kept: what lies behind, and what was not flushed, was never pushed.
    void forget_behind(std::uint64_t end);
    // Behind the last flush: appends the header, and gives what must be written over. This is then of no use any more. It may be
    // called in another thread: nothing is shared with anybody between a flush and the next push.
    FilePatch finish(ByteWriter& out) const;

    std::size_t samples() const;
    std::size_t held_bytes() const { return held_bytes_; }
    std::size_t held_samples() const { return held_samples_; }
    // Of the longest track, so far.
    MediaTime duration() const;

private:
    struct Track {
        TrackFormat format;
        TrackClock clock;
        SampleTable table;
        MediaTime start{};
        std::vector<Sample> held;
    };

    void begin_fragments(ByteWriter& out);
    void flush_fragment(ByteWriter& out);
    void flush_late_tracks(ByteWriter& out);
    // Says that the held samples of a track lie here, and forgets them.
    std::uint64_t place_held(Track& track, std::uint64_t offset);

    std::uint32_t last_ticks_of(const Track& track) const;
    std::uint64_t movie_ticks_of(const Track& track, MediaTime origin) const;
    MediaTime origin() const;

    std::vector<Track> tracks_;
    // From the first flush on: of the tracks that there were then.
    std::optional<FragmentWriter> fragments_;
    std::uint64_t position_ = 0;  // the length of the file
    std::size_t held_bytes_ = 0;
    std::size_t held_samples_ = 0;
};

}  // namespace live::wire::mp4
