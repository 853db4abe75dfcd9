// Rendition: one media playlist of a stream, either of all default tracks muxed together or of one track. Keeps the segments and
// parts of one representation in the list, in the store and on disk, and renders its playlist.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/hls/files/disk.hpp"
#include "service/hls/files/keys.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/segment_list.hpp"
#include "service/hls/timed/date_ranges.hpp"
#include "service/segments/segmenter.hpp"
#include "service/segments/store.hpp"

namespace live::service::hls {

class Rendition {
public:
    // Initialization sections kept.
    static constexpr std::size_t kInitsMax = 64;

    // Shared by a stream's renditions; must outlive them.
    struct Shared {
        const HlsOptions& options;
        segments::Store& store;
        segments::StreamOfFilesRef stream;
        Disk& disk;
        const DateRanges& ranges;
    };

    Rendition(const Shared& shared, Names names, const ListRules& rules);
    ~Rendition() { forget(); }
    Rendition(const Rendition&) = delete;
    Rendition& operator=(const Rendition&) = delete;

    const Names& names() const { return names_; }
    const SegmentList& list() const { return list_; }
    // Bytes in memory.
    std::size_t bytes() const { return list_.bytes(); }
    void set_bytes_max(std::uint64_t bytes) { list_.set_bytes_max(bytes); }

    // Continues the list of an earlier process, or the position of another rendition of the stream. This rendition must be empty.
    void recover(std::vector<ListedSegment> segments, std::uint64_t first_number, std::uint64_t discontinuities);
    // Sets the container of the following segments. Listed segments leave the list when it changes: many players judge a playlist
    // by its first segment.
    void set_container(Container container);
    // Removes all segments from the list. No segment may be added afterwards.
    void retire();

    // The limit of missing segments that are listed as gaps.
    static constexpr std::uint64_t kGapsMax = 10;

    // Call before the parts and segments that need it: the initialization section, or nullptr for MPEG-TS.
    void set_header(const segments::Header& header);
    void add(const segments::PartMade& made, const segments::Piece& piece);
    // With encryption the segment's blocks are already encrypted; otherwise `keys` is nullptr.
    const ListedSegment& add(const segments::SegmentMade& made, const segments::Piece& piece, const Keys* keys);
    // The next segment contains nothing of this track.
    void add_absent(MediaTime duration, bool discontinuity);
    // The segment whose parts are listed, if any, will not be completed: it becomes a gap.
    void drop_open();
    void mark_gap(std::uint64_t number);
    // Sets whether the last publisher has left.
    void set_ended(bool ended);
    void write_list();
    // The place of a rendition, with which another node continues with the same numbers and names.
    struct Place {
        std::uint64_t inits = 0;      // initialization sections so far
        std::uint64_t init_hash = 0;  // of the newest; 0: none
        MediaTime usual_part{};
    };
    Place place() const;
    // Continues like another node's rendition before segment `number`, with that many discontinuities before it. Up to kGapsMax
    // missing segments are listed as gaps, `missing` long in all; with more, the list starts again.
    void align(std::uint64_t number, std::uint64_t discontinuities, const Place& place, MediaTime missing);

    // Drops segments that left the list long enough ago; the paths of their files are added to `paths`.
    void clean_up(std::vector<std::string>& paths);
    // Paths of all known files; none can be found in the store afterwards.
    std::vector<std::string> take_all();

    // Returns the playlist for a player. `query` is added to each URI, unless it is empty. None before the first segment or part.
    std::optional<std::string> playlist_text(SegmentList::Form form, std::string_view query);
    void forget_text() { texts_ = {}; }
    // The newest segment and part (8216bis, 4.4.5.4), for the playlists of other renditions.
    wire::hls::RenditionReport report() const;
    // Reports of the other renditions; low latency only.
    void set_reports(std::vector<wire::hls::RenditionReport> reports) { reports_ = std::move(reports); }
    // The entry for a master playlist, without a URI; bandwidths are 1 before its first segment or part.
    wire::hls::Variant variant() const;
    const std::optional<wire::mp4::TrackFormat>& format() const { return format_; }

private:
    struct Held {
        std::uint64_t number = 0;  // number of its segment, or of the header
        std::string path;
        segments::FileRef file;
    };
    bool has_parts() const { return rules_.low_latency; }
    FileName next_name() const;
    std::string& rendered(SegmentList::Form form);
    void promise(const FileName& part);
    void break_promise();
    void forget_old();
    void forget();

    const Shared shared_;
    Names names_;
    const ListRules rules_;
    SegmentList list_;
    segments::FileRef open_file_;       // the segment in progress, or the next one; only with parts
    std::optional<FileName> upcoming_;  // the next segment's name, once promised
    Held promised_;                     // the next part
    std::deque<Held> held_;             // segments
    std::deque<Held> parts_;            // while they are listed
    std::deque<Held> init_files_;       // recent ones; players that need older ones find them on disk
    Block init_;
    std::uint64_t init_hash_ = 0;  // of the newest section, also if only another node has it
    std::uint64_t inits_ = 0;
    std::uint64_t init_number_ = 0;  // of `init_`
    std::string map_;
    std::optional<wire::mp4::TrackFormat> format_;
    std::vector<wire::hls::RenditionReport> reports_;
    std::array<std::string, 2> texts_;  // rendered playlist, full and delta; empty if outdated
};

}  // namespace live::service::hls
