// FragmentWriter: fragmented MP4 for CMAF, HLS and DASH (ISO/IEC 14496-12, 8.8; ISO/IEC 23000-19): a self-contained header, and
// fragments (moof and mdat) of one or more consecutive samples. Each fragment carries its own time, so that it can be played at
// any position.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/track_clock.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

class FragmentWriter {
public:
    static constexpr std::size_t kTracksMax = 32;
    // Limits of one fragment.
    static constexpr std::size_t kSamplesMax = 32'768;
    static constexpr std::size_t kBytesMax = 256U << 20;
    // Live outputs end a fragment before it exceeds this size, unless a single sample does, so that writing one takes a few
    // milliseconds at most.
    static constexpr std::size_t kLiveBytes = 2U << 20;

    // The sample that follows a fragment; it gives the duration of the last sample.
    struct Next {
        std::size_t track = 0;
        MediaTime dts{};
    };

    // One to kTracksMax tracks, indexed in this order in push(); the file numbers them from one.
    explicit FragmentWriter(std::vector<TrackFormat> tracks);

    const std::vector<TrackFormat>& tracks() const { return formats_; }
    // Writes the init segment: ftyp and moov. `duration` is the total of all fragments when known, as at the end of a recording;
    // the size is the same for any duration up to 13 hours.
    void write_init(ByteWriter& out, MediaTime duration = {}) const;
    // Writes the moov only.
    void write_movie(ByteWriter& out, MediaTime duration = {}) const;

    // Adds a sample to the next fragment. Errc::limit: it is full; cut, then push again.
    Result<void> push(std::size_t track, Sample sample);
    bool empty() const { return samples_ == 0; }
    std::size_t samples() const { return samples_; }
    // Media bytes in the next fragment.
    std::size_t bytes() const { return bytes_; }

    // Appends moof and mdat with everything pushed since the last cut, or nothing if that is empty. `next` is the sample that
    // made the caller cut: it gives the exact duration of its track's last sample. The last samples of other tracks repeat the
    // previous duration; the next fragment carries its own time anyway.
    void cut(ByteWriter& out, std::optional<Next> next = {});
    // The state on which the next fragment depends, besides its samples. Only while empty().
    struct State {
        struct Track {
            std::optional<std::uint64_t> tick;  // of the newest sample
            std::uint32_t last_ticks = 0;       // duration of the newest sample whose end is known
        };
        std::uint32_t sequence = 1;
        std::vector<Track> tracks;
    };
    State state() const;
    // Continues where another writer of the same tracks has stopped; further tracks are ignored.
    void restore(const State& state);

    // The part of a track that the last cut() wrote, in ticks of its clock; length 0 if nothing.
    struct Extent {
        std::uint64_t start = 0;
        std::uint64_t length = 0;
    };
    const Extent& last_cut(std::size_t track) const { return tracks_.at(track).cut; }

private:
    struct Entry {
        std::uint64_t tick = 0;
        std::int64_t composition = 0;  // ticks
        bool key = false;
        Slice data;
    };
    struct Track {
        TrackClock clock;
        std::uint32_t last_ticks;  // duration of the newest sample whose end is known
        std::vector<Entry> entries;
        Extent cut;
    };

    std::vector<std::uint32_t> durations_of(std::size_t index, std::optional<Next> next);
    // Writes traf; returns the position where its data offset is to be filled in.
    std::size_t write_track_fragment(ByteWriter& out, std::size_t index, const std::vector<std::uint32_t>& durations) const;

    std::vector<TrackFormat> formats_;
    std::vector<Track> tracks_;
    std::size_t samples_ = 0;
    std::size_t bytes_ = 0;
    std::uint32_t sequence_ = 1;
};

// styp, which precedes DASH segments.
void write_segment_type(ByteWriter& out);

}  // namespace live::wire::mp4
