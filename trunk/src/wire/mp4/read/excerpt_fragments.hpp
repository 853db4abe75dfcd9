// ExcerptFragments: an excerpt as fragmented MP4: a header, then fragments with new headers around the media of the files, which
// is not copied. Frames from the key frame on to the asked time are for decoding only: each lasts one tick, and the edit list
// begins behind them, so that players without edit lists begin there too. Short fragments of a file are joined: one part of the
// file is the media of several, and no sample refers to the headers between them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
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
    // A fragment ends when it has so many bytes of media, or is this long.
    static constexpr std::uint64_t kJoinedBytes = 512U << 10;
    static constexpr MediaTime kJoinedMax = std::chrono::seconds(10);

    // Counts the frames for decoding only, which takes as many reads as a group of pictures has fragments.
    static Result<ExcerptFragments> create(Excerpt excerpt);

    // `duration`: for files; zero where it is not known, as in a stream.
    void write_init(ByteWriter& out, MediaTime duration = {}) const;
    // Appends the header of the next fragment; its media are `ranges`, in order. False at the end.
    Result<bool> next(ByteWriter& out, std::vector<FileRange>& ranges);

private:
    // A part of a file, and how many bytes of it are samples.
    struct Extent {
        std::uint64_t first = UINT64_MAX;
        std::uint64_t end = 0;
        std::uint64_t samples = 0;

        bool is_dense() const;
    };
    // A field of a run: where the media begin.
    struct DataOffset {
        std::size_t at = 0;       // of the field
        std::uint64_t place = 0;  // in the media
    };

    explicit ExcerptFragments(Excerpt excerpt)
        : excerpt_(std::move(excerpt)), cursor_(excerpt_.begin()), hidden_(excerpt_.tracks().size()), sent_(hidden_.size()) {}
    static Extent joined(Extent extent, const ExcerptPiece& piece);
    std::int64_t base_of(std::size_t track) const;
    void hide(ExcerptPiece& piece, std::size_t track);
    Result<bool> read_pieces();
    bool continues(const ExcerptPiece& piece) const;
    bool is_full() const;
    std::vector<FileRange> lay_out();
    Result<void> write_events(ByteWriter& out, const ExcerptPiece& piece);
    void write_track(ByteWriter& out, std::size_t track, std::vector<DataOffset>& data_offsets);

    Excerpt excerpt_;
    Excerpt::Cursor cursor_;
    // The next fragment; their offsets are places in its media once it is laid out.
    std::vector<ExcerptPiece> pieces_;
    Extent extent_;
    std::optional<ExcerptPiece> ahead_;  // of the fragment after it
    std::vector<ExcerptSample> samples_;
    std::vector<std::uint32_t> hidden_;  // frames for decoding only, by track
    std::vector<std::uint32_t> sent_;    // of these
    std::uint32_t sequence_ = 1;
};

// The part of a track's format that headers need.
TrackFormat format_of(const ExcerptTrack& track);

}  // namespace live::wire::mp4
