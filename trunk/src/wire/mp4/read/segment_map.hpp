// SegmentMap: the segments of one fragmented file, for playlists over it: runs of fragments that begin with a key frame. A file
// that grows is read on from where the last call has stopped. Blocks as `read` does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/files/whole_part.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/mp4/read/fragment_reader.hpp"

namespace live::wire::mp4 {

struct MappedSegment {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    MediaTime start{};  // zero: the first frame of the file is shown
    MediaTime duration{};

    MediaTime end() const { return start + duration; }
    bool operator==(const MappedSegment&) const = default;
};

// A section of SCTE 35.
struct MappedSplice {
    MediaTime at{};  // of presentation; zero: the first frame of the file is shown
    std::vector<std::uint8_t> section;
};

// A line of subtitles.
struct MappedCue {
    MediaTime at{};  // of presentation, since media time zero
    MediaTime duration{};
    std::string language;  // as in the file
    std::string text;
};

class SegmentMap {
public:
    // A segment ends with the first group of pictures that ends after this, or without video with the fragment that does; and at
    // the first key frame at or after a splice or the end of a break that returns by itself, unless it were too short then.
    static constexpr MediaTime kSegmentMin = std::chrono::milliseconds(1'900);
    static constexpr MediaTime kSplicedMin = std::chrono::milliseconds(100);
    // Times of splices may be this much later than those of their frames.
    static constexpr MediaTime kSpliceSlack = std::chrono::milliseconds(5);
    static constexpr std::size_t kSegmentsMax = 200'000;
    // Later splices are left out.
    static constexpr std::size_t kSplicesMax = 1'024;
    // Later lines of subtitles are left out.
    static constexpr std::size_t kCuesMax = 20'000;
    static constexpr std::size_t kCueBytesMax = 2U << 20;

    // Reads the header. Errors as read_fragmented_header().
    static Result<SegmentMap> open(std::uint64_t size, const ReadAt& read);
    // Reads at most `fragments` more. Returns whether no more are there for now.
    Result<bool> extend(std::uint64_t size, const ReadAt& read, std::size_t fragments);

    const FragmentedHeader& header() const { return header_; }
    // The first frame is shown this long after media time zero.
    MediaTime delay() const { return delay_; }
    // Complete ones.
    const std::vector<MappedSegment>& segments() const { return segments_; }
    // The beginning of the next one: in a complete file, the last.
    const std::optional<MappedSegment>& rest() const { return rest_; }
    const std::vector<MappedSplice>& splices() const { return splices_; }
    // In the order of the file.
    const std::vector<MappedCue>& cues() const { return cues_; }
    std::size_t memory_bytes() const {
        return sizeof(*this) + segments_.capacity() * sizeof(MappedSegment) + splices_.capacity() * sizeof(MappedSplice) +
               cuts_.capacity() * sizeof(MediaTime) + section_bytes_ + cues_.capacity() * sizeof(MappedCue) + cue_bytes_;
    }

private:
    explicit SegmentMap(FragmentedHeader header) : header_(std::move(header)), next_(header_.bytes) {}
    void add(const Fragment& fragment);
    void add_events(Bytes boxes);
    void add_cue(const EventMessage& event);
    void cut_at(const MappedSplice& splice);
    bool is_cut_by_splice(MediaTime start) const;

    FragmentedHeader header_;
    std::uint64_t next_ = 0;  // the place of the next fragment
    std::optional<MediaTime> known_delay_;
    MediaTime delay_{};
    std::vector<MappedSegment> segments_;
    std::optional<MappedSegment> rest_;
    std::vector<MappedSplice> splices_;
    std::vector<MediaTime> cuts_;  // in order
    std::size_t section_bytes_ = 0;
    std::vector<MappedCue> cues_;
    std::size_t cue_bytes_ = 0;
};

// Moves the decoding times in the header of a fragment by `by`, and the times of the event messages before it; times before zero
// become zero. `boxes` ends with the whole `moof`. Errc::malformed; Errc::limit: a time of 32 bits would overflow.
Result<void> move_in_time(MutBytes boxes, const FragmentedHeader& header, MediaTime by);

}  // namespace live::wire::mp4
