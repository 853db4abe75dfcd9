// SegmentList: the segments of one stream that players may ask for: those in the playlist, those that have just left it, and the
// parts of the one that is being made. It numbers them, decides which leave, and says what the playlist is. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/block.hpp"
#include "base/time.hpp"
#include "service/hls/names.hpp"
#include "service/segments/store.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {

// One segment's place in the list.
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
    bool gap = false;  // its file could not be written, for lists on the disk
    std::optional<wire::hls::Key> key;
    std::string key_file;  // of its key
    std::string map;
    bool absent = false;     // its track had nothing then
    segments::FileRef file;  // none: it is on the disk only, from a process before this one
    std::vector<ListedPart> parts;
    std::size_t bytes = 0;
};

struct ListRules {
    MediaTime target = 10s;  // the target duration is never less
    MediaTime window = 60s;
    std::uint64_t bytes = 256 << 20;  // that segments take in memory, but for the newest
    bool low_latency = false;
    MediaTime part = 200ms;  // with low_latency: what parts are meant to last
};

class SegmentList {
public:
    // Segments that have left stay in memory for late players: so many, and on the disk for as long as RFC 8216, 6.2.2 wants.
    static constexpr std::size_t kRetiredInMemory = 2;
    // In the list, whatever the window says.
    static constexpr std::size_t kListedMax = 10'000;

    explicit SegmentList(const ListRules& rules) : rules_(rules) {}

    // What a process before this one has left. Only while nothing has been added.
    void recover(std::vector<ListedSegment> segments, std::uint64_t first_number, std::uint64_t discontinuities);

    std::uint64_t next_number() const { return next_number_; }
    // Those that have left the list.
    std::uint64_t discontinuities() const { return discontinuities_; }
    // Of the segment that is being made: its parts, one after the other. The first brings what stands in front of it.
    void begin_open(FileName name, bool discontinuity, std::string map);
    bool has_open() const { return open_.has_value(); }
    ListedPart& add_part(ListedPart part);
    // The segment is complete; parts that were added are its own. Takes next_number().
    ListedSegment& add(ListedSegment segment);
    // Of memory, from now on.
    void set_bytes_max(std::uint64_t bytes) { rules_.bytes = bytes; }
    // What is listed leaves the list, and players find it for as long as any that has left.
    void retire_all();
    // Its file could not be written.
    void mark_gap(std::uint64_t number);
    // Nothing comes after what there is, until it does.
    void set_ended(bool ended) { ended_ = ended; }

    // Left for good: their files can go.
    std::vector<ListedSegment> take_expired();
    // All that is known.
    std::vector<ListedSegment> take_all();
    // The memory of what has left.
    std::vector<Block> take_spent() { return std::exchange(spent_, {}); }

    const std::deque<ListedSegment>& listed() const { return listed_; }
    const std::optional<ListedSegment>& open() const { return open_; }
    // nullptr when it is not known, or not any more.
    const ListedSegment* find(std::uint64_t number) const;
    bool empty() const { return listed_.empty() && !open_; }
    // Held in memory.
    std::size_t bytes() const;
    // Whether segments have left the list because of their bytes, before the window was full.
    bool is_cut_by_bytes() const { return is_cut_by_bytes_; }

    // For players, or for the disk: that has no parts.
    enum class Form : std::uint8_t { players, delta, disk };
    wire::hls::MediaPlaylist playlist(Form form) const;
    // The name of the part that comes next, for low latency; empty when none does.
    const std::string& hint() const { return hint_; }
    void set_hint(std::string uri) { hint_ = std::move(uri); }

    // Is the part (or without one the segment) there, so that a playlist that was asked for can be given? Too far ahead is
    // nothing that can be waited for (8216bis, 6.2.5.2).
    enum class Wait : std::uint8_t { ready, later, never };
    Wait wait_for(std::uint64_t number, std::optional<std::uint64_t> part) const;
    MediaTime target_duration() const;
    // That of the longest part so far; those behind a hole in the stream, which last as long as it, count while they are listed.
    MediaTime part_target() const;

private:
    void retire();
    void retire_oldest();
    void fit();
    void expire(MediaTime time);
    std::size_t let_go(ListedSegment& segment);
    MediaTime listed_time() const;

    ListRules rules_;
    std::deque<ListedSegment> listed_;
    std::deque<ListedSegment> retired_;
    std::vector<ListedSegment> expired_;
    std::vector<Block> spent_;
    std::optional<ListedSegment> open_;
    std::string hint_;
    MediaTime usual_part_{};  // the longest that is no exception
    std::uint64_t next_number_ = 0;
    std::uint64_t discontinuities_ = 0;  // that have left the list
    bool ended_ = false;
    bool is_cut_by_bytes_ = false;
};

}  // namespace live::service::hls
