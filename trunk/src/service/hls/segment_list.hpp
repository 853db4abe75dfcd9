// SegmentList: the segments of one stream that players may request: those in the playlist, those that recently left it, and the
// parts of the segment in progress. It assigns their numbers, decides which leave, and builds the playlist. Dry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/time.hpp"
#include "service/hls/files/key_file.hpp"
#include "service/hls/files/names.hpp"
#include "service/segments/store.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {

// One part of a segment in the list.
struct ListedPart {
    FileName name;
    MediaTime duration{};
    bool independent = false;
    segments::FileRef file;
};

struct ListedSegment {
    std::uint64_t number = 0;
    FileName name;
    MediaTime duration{};
    bool discontinuity = false;
    bool gap = false;  // its file could not be written; for lists on disk
    std::optional<wire::hls::Key> key;
    KeyFileRef key_file;
    std::string map;
    bool absent = false;     // has no frames of its track
    segments::FileRef file;  // nullptr: only on disk, from an earlier process
    std::vector<ListedPart> parts;
    std::size_t bytes = 0;
    std::optional<UtcTime> date{};  // of its first frame
    bool independent = true;        // decoding may start at its beginning
};

struct ListRules {
    MediaTime target = 10s;  // lower bound of the target duration
    MediaTime window = 60s;
    std::uint64_t bytes = 256 << 20;  // memory limit for segments, except the newest
    bool low_latency = false;
    MediaTime part = 200ms;  // with low_latency: the intended part duration
};

class SegmentList {
public:
    // This many retired segments stay in memory for late players; on disk they stay as long as RFC 8216, 6.2.2 requires.
    static constexpr std::size_t kRetiredInMemory = 2;
    // Upper bound of the list, whatever the window.
    static constexpr std::size_t kListedMax = 10'000;

    explicit SegmentList(const ListRules& rules) : rules_(rules) {}

    // Restores the list of an earlier process. The list must be empty.
    void recover(std::vector<ListedSegment> segments, std::uint64_t first_number, std::uint64_t discontinuities);

    std::uint64_t next_number() const { return next_number_; }
    // For a list that equals another node's: sets the number of the next segment and its discontinuities. Numbers in between must
    // have been added, unless the list is empty.
    void skip_to(std::uint64_t number) { next_number_ = number; }
    std::uint64_t discontinuities_before_next() const;
    void set_discontinuities_before_next(std::uint64_t count);
    MediaTime usual_part() const { return usual_part_; }
    void note_usual_part(MediaTime part) { usual_part_ = std::max(usual_part_, part); }
    // Discontinuities that have left the list.
    std::uint64_t discontinuities() const { return discontinuities_; }
    // Begins the segment in progress; its parts follow. These values apply to its first part.
    struct Open {
        FileName name;
        bool discontinuity = false;
        std::string map{};
        std::optional<UtcTime> date{};
        bool independent = true;
    };
    void begin_open(Open open);
    bool has_open() const { return open_.has_value(); }
    ListedPart& add_part(ListedPart part);
    // The segment is complete; it takes over the parts added so far. Takes next_number().
    ListedSegment& add(ListedSegment segment);
    // Sets the memory limit from now on.
    void set_bytes_max(std::uint64_t bytes) { rules_.bytes = bytes; }
    // Removes all segments from the list; players can still load them as long as any other retired segment.
    void retire_all();
    // The segment's file could not be written.
    void mark_gap(std::uint64_t number);
    // Sets whether the list has ended: no more segments.
    void set_ended(bool ended) { ended_ = ended; }

    // Returns the segments that players cannot request. Their files can be deleted.
    std::vector<ListedSegment> take_expired();
    // All known segments.
    std::vector<ListedSegment> take_all();
    // Freed memory of retired segments.
    std::vector<Block> take_dropped_blocks() { return std::exchange(dropped_blocks_, {}); }

    const std::deque<ListedSegment>& listed() const { return listed_; }
    const std::optional<ListedSegment>& open() const { return open_; }
    // nullptr if it is unknown or has expired.
    const ListedSegment* find(std::uint64_t number) const;
    // Whether its parts are served: while they are listed, and for as long again, for players that have an older playlist.
    bool serves_parts_of(std::uint64_t number) const;
    bool empty() const { return listed_.empty() && !open_; }
    // Whether a known segment has that key.
    bool needs(const KeyFileRef& key) const;
    // Bytes in memory.
    std::size_t bytes() const;
    // Whether segments have left the list because of the memory limit, before the window was full.
    bool is_cut_by_bytes() const { return is_cut_by_bytes_; }

    // Returns the playlist for players, or for the disk (without parts).
    enum class Form : std::uint8_t { players, delta, disk };
    wire::hls::MediaPlaylist playlist(Form form) const;
    // The name of the next part, for low latency; empty if missing.
    const std::string& hint() const { return hint_; }
    void set_hint(std::string uri) { hint_ = std::move(uri); }

    // Whether the part (without one, the segment) is available, so that a blocked playlist request can be answered. A request too
    // far ahead is never answered (8216bis, 6.2.5.2).
    enum class Wait : std::uint8_t { ready, later, never };
    Wait wait_for(std::uint64_t number, std::optional<std::uint64_t> part) const;
    MediaTime target_duration() const;
    // The intended duration of a part, or that of the longest one so far; outliers, of frames that are far apart, count only
    // while listed.
    MediaTime part_target() const;

private:
    void retire();
    void retire_oldest();
    void fit();
    void expire(MediaTime time);
    std::size_t release(ListedSegment& segment);
    MediaTime listed_time() const;

    ListRules rules_;
    std::deque<ListedSegment> listed_;
    std::deque<ListedSegment> retired_;
    std::vector<ListedSegment> expired_;
    std::vector<Block> dropped_blocks_;
    std::optional<ListedSegment> open_;
    std::string hint_;
    MediaTime usual_part_{};  // the longest, outliers excluded
    std::uint64_t next_number_ = 0;
    std::uint64_t discontinuities_ = 0;  // already removed from the list
    bool ended_ = false;
    bool is_cut_by_bytes_ = false;
};

}  // namespace live::service::hls
