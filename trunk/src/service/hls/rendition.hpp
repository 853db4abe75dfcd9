// Rendition: one media playlist of a stream: of its default tracks together, or of one track. It has the segments and parts of
// one representation in the list, in the store and on the disk, and says its playlist.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/hls/disk.hpp"
#include "service/hls/keys.hpp"
#include "service/hls/names.hpp"
#include "service/hls/segment_list.hpp"
#include "service/segments/segmenter.hpp"
#include "service/segments/store.hpp"

namespace live::service::hls {

class Rendition {
public:
    // Initialisation sections that are kept.
    static constexpr std::size_t kInitsMax = 64;

    // What a stream's renditions share; outlives them.
    struct Shared {
        const HlsOptions& options;
        segments::Store& store;
        segments::StreamOfFilesRef stream;
        Disk& disk;
    };

    Rendition(const Shared& shared, Names names, const ListRules& rules);
    ~Rendition() { forget(); }
    Rendition(const Rendition&) = delete;
    Rendition& operator=(const Rendition&) = delete;

    const Names& names() const { return names_; }
    const SegmentList& list() const { return list_; }
    // Of memory.
    std::size_t bytes() const { return list_.bytes(); }
    void set_bytes_max(std::uint64_t bytes) { list_.set_bytes_max(bytes); }

    // What a process before this one has left, or where another rendition of the stream stands. Only while this is empty.
    void recover(std::vector<ListedSegment> segments, std::uint64_t first_number, std::uint64_t discontinuities);
    // What comes is in that container. What is listed leaves the list unless it is the same: many players judge by the first.
    void set_container(Container container);
    // What is listed leaves the list, and nothing comes any more.
    void retire();

    // In front of what needs it: what players need first; nullptr for MPEG-TS.
    void set_header(const segments::Header& header);
    void add(const segments::PartMade& made, const segments::Piece& piece);
    // The segment's blocks are encrypted already where there are keys; else `keys` is nullptr.
    const ListedSegment& add(const segments::SegmentMade& made, std::vector<Block> blocks, const Keys* keys);
    // The segment with the next number has nothing of this track.
    void add_absent(MediaTime duration, bool discontinuity);
    void mark_gap(std::uint64_t number);
    // Nobody publishes; or somebody does again.
    void set_ended(bool ended);
    void write_list();
    // Lets go of what has left the list for long enough; the paths of its files are added to `paths`.
    void clean_up(std::vector<std::string>& paths);
    // Of all that is known; none of it is found afterwards.
    std::vector<std::string> take_all();

    // For a player; nothing stays borrowed. `query` is added to each URI, unless it is empty. None before there is a segment or
    // part.
    std::optional<std::string> playlist_text(SegmentList::Form form, std::string_view query);
    void forget_text() { texts_ = {}; }
    // How far this one is (8216bis, 4.4.5.4), as the playlist of a rendition beside it says it.
    wire::hls::RenditionReport report() const;
    // Of those beside it; with low latency.
    void set_reports(std::vector<wire::hls::RenditionReport> reports) { reports_ = std::move(reports); }
    // As a list of streams would name it, without an address; bandwidths are 1 when nothing is known.
    wire::hls::Variant variant() const;
    const std::optional<wire::mp4::TrackFormat>& format() const { return format_; }

private:
    struct Held {
        std::uint64_t number = 0;  // of its segment, or of the header
        std::string path;
        segments::FileRef file;
    };
    bool has_parts() const { return shared_.options.ll && !shared_.options.keys; }
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
    segments::FileRef open_file_;       // the segment that is being made, or comes next, when parts are made
    std::optional<FileName> upcoming_;  // of the segment that comes next, once it has been promised
    Held promised_;                     // the part that comes next
    std::deque<Held> held_;             // segments
    std::deque<Held> parts_;            // as long as they are listed
    std::deque<Held> init_files_;       // of late; players that need older ones find them on the disk
    Block init_;
    std::uint64_t inits_ = 0;
    std::string map_;
    std::optional<wire::mp4::TrackFormat> format_;
    std::vector<wire::hls::RenditionReport> reports_;
    std::array<std::string, 2> texts_;  // of the playlist, for players and as a delta; empty when it has changed
};

}  // namespace live::service::hls
