// Reads fragmented MP4 files (ISO/IEC 14496-12, 8.8), of this server and of others: the tracks of the movie header, and then one
// fragment after the other: its samples with their times, sizes, places in the file and key frames. The media itself is not read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/files/whole_part.hpp"
#include "base/media_kind.hpp"
#include "base/result.hpp"
#include "wire/mp4/event_message.hpp"
#include "wire/mp4/read/recording_note.hpp"

namespace live::wire::mp4 {

// A track as its movie header describes it.
struct FragmentedTrack {
    std::uint32_t id = 0;
    MediaKind kind = MediaKind::video;
    std::uint32_t timescale = 1;
    std::uint16_t width = 0;
    std::uint16_t height = 0;
    std::vector<std::vector<std::uint8_t>> sample_entries{};  // whole boxes
    // trex: for fragments that give none.
    std::uint32_t default_ticks = 0;
    std::uint32_t default_bytes = 0;
    std::uint32_t default_flags = 0;
};

struct FragmentedHeader {
    static constexpr std::size_t kTracksMax = 32;
    static constexpr std::size_t kSampleEntriesMax = 16;
    static constexpr std::size_t kBytesMax = 4U << 20;
    // Boxes before the first fragment.
    static constexpr std::size_t kBoxesMax = 64;

    std::optional<RecordingNote> note;
    std::vector<FragmentedTrack> tracks;
    MediaTime duration{};     // in the header; zero while it is unknown
    std::uint64_t bytes = 0;  // the place of the first fragment
    bool has_fragments = false;
};

// Reads up to the first fragment. `size` is that of the file. Errc::need_more when the file ends before; Errc::malformed,
// Errc::unsupported, Errc::limit, or the error of `read`.
Result<FragmentedHeader> read_fragmented_header(std::uint64_t size, const ReadAt& read);

// Reads the content of tkhd, mdhd or stsd; ignores that of other boxes. Errors as above.
Result<void> read_track_part(std::uint32_t type, Bytes content, FragmentedTrack& track);

// The duration in the content of a `moov` box, or in the beginning of it; zero if it has none.
MediaTime movie_duration_of(Bytes content);

// The event messages of version 1 among the boxes before a fragment.
std::vector<EventMessage> events_in(Bytes boxes);
// The media time of a message of version 1.
MediaTime time_of(const EventMessage& message);
// Zero if it is unknown.
MediaTime duration_of(const EventMessage& message);

struct FragmentSample {
    std::uint64_t tick = 0;
    std::uint32_t ticks = 0;
    std::int32_t composition = 0;
    std::uint32_t bytes = 0;
    std::uint64_t offset = 0;  // in the file
    bool key = false;

    bool operator==(const FragmentSample&) const = default;
};

struct Fragment {
    static constexpr std::size_t kHeaderBytesMax = 4U << 20;
    static constexpr std::size_t kSamplesMax = 65'536;

    // Boxes before a fragment: event messages, and those of other writers.
    static constexpr std::size_t kBoxesMax = 256;
    static constexpr std::size_t kEventBytesMax = 256U << 10;

    // Script data of an FLV file.
    struct Script {
        static constexpr std::size_t kMax = 64;
        static constexpr std::size_t kBytesMax = 32U << 10;

        MediaTime at{};  // of the tag, on the file's timeline
        std::uint64_t offset = 0;
        std::uint32_t bytes = 0;
    };

    std::uint64_t events = 0;  // the place of the first event message; without one, that of the fragment
    std::uint64_t offset = 0;
    std::uint64_t header_bytes = 0;
    std::uint64_t bytes = 0;  // with the media
    // By track, in the order of the header.
    std::vector<std::vector<FragmentSample>> samples;
    std::vector<std::uint32_t> entries;  // of the sample descriptions of each track, from zero
    std::vector<Script> scripts;         // at most Script::kMax, of at most Script::kBytesMax each

    void clear(std::size_t tracks);
};

// The same without suspension of the caller's buffers: `fragment` keeps its memory from one call to the next.
class FragmentReader {
public:
    // `header` and `read` outlive this.
    FragmentReader(const FragmentedHeader& header, std::uint64_t size, const ReadAt& read)
        : header_(header), size_(size), read_(read) {}

    // Reads the fragment at `offset`, or the next one behind boxes of other kinds. Errc::need_more: the file ends before the end
    // of a fragment; Errc::malformed, Errc::limit, or the error of `read`.
    Result<void> read(std::uint64_t offset, Fragment& fragment);

private:
    Result<void> read_header(Bytes content, Fragment& fragment) const;
    Result<void> read_track(Bytes content, Fragment& fragment) const;

    const FragmentedHeader& header_;
    const std::uint64_t size_;
    const ReadAt& read_;
    std::size_t guess_ = 4'096;  // bytes of the next header
};

}  // namespace live::wire::mp4
