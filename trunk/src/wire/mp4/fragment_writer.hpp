// FragmentWriter: fragmented MP4 as CMAF, HLS and DASH use it (ISO/IEC 14496-12, 8.8; ISO/IEC 23000-19): a header that stands for
// itself, and fragments (moof and mdat) of any run of samples, one or many. Each fragment says its own time, so that it can be
// played wherever it is put.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/result.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/track_clock.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

class FragmentWriter {
public:
    static constexpr std::size_t kTracksMax = 32;
    // Of one fragment.
    static constexpr std::size_t kSamplesMax = 32'768;
    static constexpr std::size_t kBytesMax = 256U << 20;
    // Live outputs end a fragment that has so many, so that writing one takes a few milliseconds at most.
    static constexpr std::size_t kLiveBytes = 2U << 20;

    // What comes behind a fragment: how long its last sample lasts.
    struct Next {
        std::size_t track = 0;
        MediaTime dts{};
    };

    // One track to kTracksMax, which push() names by their place here; the file numbers them from one.
    explicit FragmentWriter(std::vector<TrackFormat> tracks);

    const std::vector<TrackFormat>& tracks() const { return formats_; }
    // The init segment: ftyp and moov. `duration` is of all fragments together when that is known, as at the end of a recording;
    // it changes no length up to 13 hours.
    void write_init(ByteWriter& out, MediaTime duration = {}) const;
    // Its moov alone.
    void write_movie(ByteWriter& out, MediaTime duration = {}) const;

    // Adds to the next fragment. Errc::limit: it is full; cut, then push again.
    Result<void> push(std::size_t track, Sample sample);
    bool empty() const { return samples_ == 0; }
    std::size_t samples() const { return samples_; }
    // Of media in the next fragment.
    std::size_t bytes() const { return bytes_; }
    // The first frame of the next fragment is a key frame; true too when it is all audio.
    bool is_independent() const;

    // Appends moof and mdat with all that was pushed since the last; nothing when that is nothing. `next` is the sample that made
    // the caller cut: it ends the last one of its track exactly. Other tracks' last samples last as long as those before them;
    // the next fragment says its time anyway.
    void cut(ByteWriter& out, std::optional<Next> next = {});
    // What the last cut() wrote of a track, in ticks of its clock; no length when that was nothing.
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
        std::uint32_t last_ticks;  // how long the newest sample lasted whose end is known
        std::vector<Entry> entries;
        Extent cut;
    };

    std::vector<std::uint32_t> durations_of(std::size_t index, std::optional<Next> next);
    // traf; gives where its data offset is to be filled in.
    std::size_t write_track_fragment(ByteWriter& out, std::size_t index, const std::vector<std::uint32_t>& durations) const;

    std::vector<TrackFormat> formats_;
    std::vector<Track> tracks_;
    std::size_t samples_ = 0;
    std::size_t bytes_ = 0;
    std::uint32_t sequence_ = 1;
};

// styp, which DASH puts in front of a segment.
void write_segment_type(ByteWriter& out);

}  // namespace live::wire::mp4
