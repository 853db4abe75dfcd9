// Excerpt: a span of a stream's time in its recordings: the samples of one or more files, on one timeline that begins at the
// asked time. Each track of video begins with the key frame at or before that time. Nothing is kept of what was read: a cursor
// walks through the files, as often as a writer needs it (excerpt_fragments.hpp, excerpt_movie.hpp). Blocks as `read` does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/media_kind.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/mp4/event_message.hpp"
#include "wire/mp4/read/fragment_reader.hpp"
#include "wire/mp4/read/sample_file.hpp"

namespace live::wire::mp4 {

// One recording, in the order of time.
struct ExcerptFile {
    std::uint64_t size = 0;
    MediaTime start{};  // the time at which its first frame is shown, on the excerpt's timeline; negative if that is before
};

// Returns the events in script data of an FLV file, whose time is `at`; may be empty.
using ReadScript = std::function<std::vector<EventMessage>(Bytes script, MediaTime at)>;
using ReadFile = std::function<Result<std::vector<std::uint8_t>>(std::size_t file, std::uint64_t offset, std::size_t count)>;

struct ExcerptTrack {
    MediaKind kind = MediaKind::video;
    std::uint32_t timescale = 1;
    std::uint16_t width = 0;
    std::uint16_t height = 0;
    std::vector<std::vector<std::uint8_t>> sample_entries;
    // The first sample, if it is known from the start; at most zero for a track that runs at the asked time.
    std::optional<std::int64_t> first_tick;
};

struct ExcerptSample {
    std::int64_t tick = 0;  // decoding time; a frame with tick + composition == 0 is shown at the asked time
    std::uint32_t ticks = 0;
    std::int32_t composition = 0;
    std::uint32_t bytes = 0;
    std::uint64_t offset = 0;  // in its file
    bool key = false;
};

// The samples of one fragment.
struct ExcerptPiece {
    std::size_t file = 0;
    std::uint64_t events = 0;  // the place of its event messages, which are before the fragment
    std::uint64_t offset = 0;  // of the fragment
    std::uint64_t bytes = 0;
    MediaTime start{};  // of the file's media time zero, on the excerpt's timeline
    std::vector<Fragment::Script> scripts;
    struct Track {
        std::uint32_t entry = 0;  // of the track's sample entries
        std::vector<ExcerptSample> samples;
    };
    std::vector<Track> tracks;  // as those of the excerpt

    bool is_empty() const;
};

class Excerpt {
public:
    static constexpr std::size_t kFilesMax = 20'000;
    static constexpr std::size_t kTracksMax = FragmentedHeader::kTracksMax;
    // A track of which nothing was found this long after the asked time begins when it comes.
    static constexpr MediaTime kSearchMax = std::chrono::seconds(10);
    // A file that begins earlier than this before the end of the one before it is shifted; within it, times only increase.
    static constexpr MediaTime kOverlapMax = std::chrono::milliseconds(100);

    // The first frame of a file is shown at most this long after it is decoded.
    static constexpr MediaTime kReorderMax = std::chrono::seconds(10);

    // A place between two pieces.
    struct Cursor {
        std::size_t file = 0;
        std::uint64_t offset = 0;  // 0: of the first fragment
        MediaTime shift{};         // of the file, which begins before the end of the previous one
        bool is_shifted = false;
        struct Track {
            bool is_running = false;
            std::int64_t last = 0;         // the newest sample
            std::int64_t end = INT64_MIN;  // of its end
        };
        std::vector<Track> tracks;
    };

    // Errc::limit: too many files.
    static Result<Excerpt> start(std::vector<ExcerptFile> files, ReadFile read, MediaTime duration, ReadScript read_script = {});
    // Reads headers and finds the first samples, by about `reads` reads; returns whether that is done, before which nothing else
    // may be called. Errc::not_found: there is nothing in this span; errors of `read`. Files without readable media are left out.
    Result<bool> prepare(std::size_t reads);
    // Both in one call.
    static Result<Excerpt> create(std::vector<ExcerptFile> files, ReadFile read, MediaTime duration, ReadScript read_script = {});

    const std::vector<ExcerptTrack>& tracks() const { return tracks_; }
    MediaTime duration() const { return duration_; }
    Cursor begin() const { return begin_; }
    // Reads the next piece that has samples. False at the end.
    Result<bool> next(Cursor& cursor, ExcerptPiece& piece);
    // Reads the events of a piece, from event messages and script data; those that cannot be read are left out. Their times are
    // those of the file.
    Result<std::vector<EventMessage>> events_of(const ExcerptPiece& piece);

private:
    struct Mapping {
        std::size_t track = 0;
        std::vector<std::uint32_t> entries;  // by the entries of the header's track
    };
    // Files of one publisher share a header.
    struct Header {
        FragmentedHeader header;
        std::vector<Mapping> mappings;  // by the header's tracks
    };
    struct File {
        std::uint64_t size = 0;
        MediaTime start{};
        std::size_t header = 0;
        std::uint64_t first = 0;                        // the place of the first fragment
        bool is_aligned = false;                        // `start` is that of media time zero
        std::unique_ptr<SampleFile> samples = nullptr;  // of a file that is not fragmented
    };

    Result<bool> add_file(std::size_t index, const ExcerptFile& file);
    void add(std::size_t index, const ExcerptFile& file, FragmentedHeader header, std::unique_ptr<SampleFile> samples);
    Result<void> read_samples(std::size_t index, std::uint64_t offset, const ReadAt& read);
    void leave_file();
    Result<void> finish_search();
    std::size_t header_index(FragmentedHeader header);
    Mapping map_track(const FragmentedTrack& track, std::size_t ordinal);
    void align(std::size_t index);
    Result<bool> read_fragment(Cursor& cursor);
    void shift(Cursor& cursor) const;
    std::int64_t start_of(const Cursor& cursor, std::size_t source_track) const;
    std::int64_t tick_of(const Cursor& cursor, std::size_t source_track, std::uint64_t tick) const;
    Result<bool> locate();
    bool has_media_after_zero(const Cursor& cursor) const;
    bool note_starts(const Cursor& cursor);
    bool select(Cursor& cursor, ExcerptPiece& piece);

    ReadFile read_;
    ReadScript read_script_;
    MediaTime duration_{};
    std::vector<std::size_t> file_numbers_;  // as the caller counts them
    std::vector<File> files_;
    std::vector<Header> headers_;
    std::vector<ExcerptTrack> tracks_;
    Cursor begin_;
    Fragment fragment_;
    std::size_t newest_file_ = 0;  // that was read

    // Until it is prepared.
    struct Search {
        std::vector<ExcerptFile> files;
        std::size_t added = 0;
        std::unique_ptr<SampleFile> opening;
        Cursor cursor;
        std::vector<Cursor> starts;  // by track; as far as its first_tick is known
        std::size_t file = 0;
        bool runs = false;  // the file has media after the asked time
    };
    Search search_;
};

}  // namespace live::wire::mp4
