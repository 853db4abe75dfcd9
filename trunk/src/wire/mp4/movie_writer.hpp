// MovieWriter: records a progressive MP4 file (ISO/IEC 14496-12): media first, the header that indexes it at the end. Until then
// it is a fragmented file, playable up to its last flush whatever happens to the process. Written data is never modified, except
// for 16 bytes when the file is closed: a free box before the fragments becomes one mdat around all of them, and only the header
// at the end remains visible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/files/file_patch.hpp"
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
    // Per track: less than three weeks of video at 60 frames per second, more than a week.
    static constexpr std::size_t kSamplesMax = std::size_t{1} << 26;
    // Media pushed and not yet flushed.
    static constexpr std::size_t kHeldBytesMax = 64U << 20;
    static constexpr std::size_t kHeldSamplesMax = 16'384;

    // Writes the start of a new file.
    void begin(ByteWriter& out);
    // May be called at any time; returns the index for push(). Errc::limit.
    Result<std::size_t> add_track(TrackFormat format);
    // Errc::limit: flush first, or at kSamplesMax begin a new file.
    Result<void> push(std::size_t track, Sample sample);
    // Appends what was pushed since the last flush, track by track. A track added after the first flush is playable only once the
    // file is closed.
    void flush(ByteWriter& out);
    // Discards the samples from byte `end` on, where the file was truncated, and those that were not flushed.
    void forget_behind(std::uint64_t end);
    // After the last flush: appends the header, and returns the patch to apply. The writer cannot be used afterwards. May be
    // called in another thread: nothing is shared between a flush and the next push.
    FilePatch finish(ByteWriter& out) const;

    std::size_t samples() const;
    std::size_t held_bytes() const { return held_bytes_; }
    // Returns the duration of the longest track so far.
    MediaTime duration() const;

private:
    struct Track {
        TrackFormat format;
        TrackClock clock;
        SampleTable table;
        MediaTime start{};
        MediaTime composition{};  // of the first sample
        std::vector<Sample> held;
    };

    void begin_fragments(ByteWriter& out);
    void flush_fragment(ByteWriter& out);
    void flush_late_tracks(ByteWriter& out);
    // Records that the held samples of a track are at `offset`, and releases them.
    std::uint64_t place_held(Track& track, std::uint64_t offset);

    std::uint32_t last_ticks_of(const Track& track) const;
    std::uint64_t movie_ticks_of(const Track& track, MediaTime origin) const;
    MediaTime origin() const;
    static MediaTime delay_of(const Track& track, MediaTime origin);

    std::vector<Track> tracks_;
    // Set at the first flush, with the tracks that exist then.
    std::optional<FragmentWriter> fragments_;
    std::uint64_t position_ = 0;  // current file length
    std::size_t held_bytes_ = 0;
    std::size_t held_samples_ = 0;
};

}  // namespace live::wire::mp4
