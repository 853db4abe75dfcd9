// MovieSamples: the samples of a plain MP4 file (ISO/IEC 14496-12, 8.6 and 8.7), whose index is before or after the media. The
// index stays in the file: its tables are read in blocks, side by side, and places in them are noted so that later reads may
// begin there. A fragment is a second of each track; its offset is the number of that second plus one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wire/mp4/read/sample_file.hpp"
#include "wire/mp4/read/sample_tables.hpp"

namespace live::wire::mp4 {

class MovieSamples final : public SampleFile {
public:
    explicit MovieSamples(std::uint64_t size) : size_(size) {}

    Result<bool> prepare(const Wanted& wanted, const ReadAt& read) override;
    const FragmentedHeader& header() const override { return header_; }
    Result<void> read(std::uint64_t offset, const ReadAt& read, Fragment& fragment) override;
    void release() override;

private:
    // A table in the file, and the block of it that was read last.
    struct TableInFile {
        std::uint64_t at = 0;
        std::uint32_t entries = 0;
        std::uint64_t block_at = 0;
        std::vector<std::uint8_t> block;
    };
    struct Track {
        FragmentedTrack format;
        bool is_known = false;
        std::array<TableInFile, kTables> tables;
        bool is_far = false;             // co64
        std::uint32_t common_bytes = 0;  // of each sample, if it is not zero
        std::uint32_t samples = 0;
        std::uint64_t delay = 0;  // on the movie's clock: the edits before the media
        std::uint64_t cut = 0;    // on the track's clock: the media before the edit
        std::int64_t shift = 0;   // from decoding times to those of fragments
    };
    // The places of the next sample in the tables of its track.
    struct Place {
        std::uint32_t sample = 0;
        std::uint64_t tick = 0;
        struct Run {
            std::uint32_t next = 0;  // entry
            std::uint32_t left = 0;
            std::uint32_t value = 0;
        };
        Run times;
        Run compositions;
        std::uint32_t keys = 0;
        std::uint32_t key = 0;  // the newest that was read
        std::uint32_t chunk = 0;
        std::uint32_t chunk_run = 0;
        std::uint32_t left_in_chunk = 0;
        std::uint32_t entry = 0;
        std::uint64_t offset = 0;
    };
    struct Places {
        std::uint64_t second = 0;
        std::vector<Place> tracks;
    };

    Result<void> read_boxes(std::uint64_t at, std::uint64_t end, int depth, const ReadAt& read);
    Result<void> read_box(std::uint32_t type, std::uint64_t at, std::uint64_t bytes, int depth, const ReadAt& read);
    Result<void> read_edits(Bytes content, Track& track) const;
    Result<void> note_table(std::uint32_t type, std::uint64_t at, std::uint64_t bytes, const ReadAt& read);
    void lay_out();

    Result<std::uint32_t> word(Track& track, Table table, std::uint32_t entry, std::uint32_t field, const ReadAt& read);
    Result<void> advance(Track& track, Table table, Place::Run& run, const ReadAt& read);
    Result<void> begin_chunk(Track& track, Place& place, const ReadAt& read);
    Result<FragmentSample> next_sample(Track& track, Place& place, const ReadAt& read);
    static std::uint64_t tick_of(const Track& track, const Place& place);
    std::uint64_t next_second() const;
    void seek(std::uint64_t second);

    std::uint64_t size_;
    std::uint32_t movie_timescale_ = 1;
    bool has_movie_ = false;
    FragmentedHeader header_;
    std::vector<Track> tracks_;
    Places places_;
    std::vector<Places> noted_;  // by second
};

}  // namespace live::wire::mp4
