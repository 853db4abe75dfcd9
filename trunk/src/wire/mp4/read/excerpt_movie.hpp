// ExcerptMovie: an excerpt as a plain MP4 file with its index in front (ISO/IEC 14496-12). The index is computed, not held: one
// walk through the recordings counts it, then each table is another walk, written while it is sent. The samples of a short span
// are kept from the first walk for the others. The media are ranges of the
// recordings, which are not copied; the headers of fragments between them are skipped by the index.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "wire/mp4/read/excerpt.hpp"
#include "wire/mp4/read/excerpt_fragments.hpp"
#include "wire/mp4/read/table_encoder.hpp"

namespace live::wire::mp4 {

class ExcerptMovie {
public:
    // Some two minutes of a stream, in some 300 KiB.
    static constexpr std::size_t kHeldSamplesMax = 8'192;

    explicit ExcerptMovie(Excerpt excerpt, std::size_t held_samples_max = kHeldSamplesMax);
    ExcerptMovie(const ExcerptMovie&) = delete;
    ExcerptMovie& operator=(const ExcerptMovie&) = delete;

    // Walks through the next `pieces` of the excerpt; returns whether all are counted, before which nothing else may be called.
    // Errc::limit: a track of more samples than a file has; errors of `read`.
    Result<bool> count(std::size_t pieces);

    // Everything before the media, and the file.
    std::uint64_t header_bytes() const { return header_bytes_; }
    std::uint64_t bytes() const { return header_bytes_ + media_bytes_; }
    const std::vector<FileRange>& ranges() const { return ranges_; }
    MediaTime duration() const { return MediaTime(std::chrono::milliseconds(movie_ticks_)); }

    // Appends the next bytes of the header: about `count`, or fewer after that many pieces; maybe nothing before the end, which
    // is after header_bytes(). Errc::closed: the recordings have changed.
    Result<void> read_header(ByteWriter& out, std::size_t count, std::size_t pieces);

private:
    struct Track {
        std::array<std::uint32_t, kTables> entries{};
        std::uint64_t samples = 0;
        bool has_composition = false;
        std::int64_t first = 0;  // ticks
        std::int64_t end = 0;
        std::int64_t shown_end = 0;
        std::vector<std::uint8_t> head;  // of trak, up to the tables

        bool has(Table table) const;
    };

    Result<void> finish_count();
    void count_piece(const ExcerptPiece& piece);
    void note_range(const ExcerptPiece& piece);
    void lay_out();
    std::uint64_t ticks_of_movie(std::size_t track) const;
    std::uint64_t table_bytes(const Track& track, Table table) const;
    void write_track_head(std::size_t index);
    void begin_table(ByteWriter& out);
    void hold(const ExcerptPiece& piece);
    Result<const ExcerptPiece*> next_piece();
    Result<void> step(ByteWriter& out);
    std::uint64_t place_of(std::size_t file, std::uint64_t offset) const;

    Excerpt excerpt_;
    std::vector<Track> tracks_;
    std::vector<FileRange> ranges_;
    std::vector<std::uint64_t> range_places_;  // in the media, by range
    std::uint64_t header_bytes_ = 0;
    std::uint64_t media_bytes_ = 0;
    std::uint64_t movie_ticks_ = 0;
    bool is_far_ = false;
    TableEncoder::PlaceOf place_;

    // The header that is being read.
    struct Progress {
        bool has_begun = false;
        bool is_over = false;
        std::size_t track = 0;
        std::size_t table = 0;
        Excerpt::Cursor cursor;
        std::size_t piece = 0;  // the next one of those that are held
        std::optional<TableEncoder> encoder;
        ByteWriter made;
    };
    Progress progress_;
    ExcerptPiece piece_;
    // All pieces, or none of a long span.
    struct Held {
        std::size_t samples_max = 0;
        std::size_t samples = 0;
        std::vector<ExcerptPiece> pieces;

        bool has_all() const { return samples <= samples_max; }
    };
    Held held_;
    Excerpt::Cursor counted_;
    std::vector<std::array<TableEncoder, kTables>> counters_;
};

}  // namespace live::wire::mp4
