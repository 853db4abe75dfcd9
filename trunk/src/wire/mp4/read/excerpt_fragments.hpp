// ExcerptFragments: an excerpt as fragmented MP4: a header, then fragments with new headers around the media of the files, which
// is not copied. Frames from the key frame on to the asked time are for decoding only: each lasts one tick, and the edit list
// begins behind them, so that players without edit lists begin there too.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "wire/mp4/read/excerpt.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

struct FileRange {
    std::size_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
};

class ExcerptFragments {
public:
    // Counts the frames for decoding only, which takes as many reads as a group of pictures has fragments.
    static Result<ExcerptFragments> create(Excerpt excerpt);

    // `duration`: for files; zero where it is not known, as in a stream.
    void write_init(ByteWriter& out, MediaTime duration = {}) const;
    // Appends the header of the next fragment; its media are `ranges`, in order. False at the end.
    Result<bool> next(ByteWriter& out, std::vector<FileRange>& ranges);

private:
    explicit ExcerptFragments(Excerpt excerpt)
        : excerpt_(std::move(excerpt)), cursor_(excerpt_.begin()), hidden_(excerpt_.tracks().size()), sent_(hidden_.size()) {}
    std::int64_t base_of(std::size_t track) const;
    void hide(std::size_t track);
    Result<void> write_events(ByteWriter& out);
    void write_track(ByteWriter& out, std::size_t track, std::vector<std::size_t>& data_offsets) const;

    Excerpt excerpt_;
    Excerpt::Cursor cursor_;
    ExcerptPiece piece_;
    std::vector<std::uint32_t> hidden_;  // frames for decoding only, by track
    std::vector<std::uint32_t> sent_;    // of these
    std::uint32_t sequence_ = 1;
};

// The part of a track's format that headers need.
TrackFormat format_of(const ExcerptTrack& track);

}  // namespace live::wire::mp4
