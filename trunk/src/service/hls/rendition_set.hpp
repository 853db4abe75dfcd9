// RenditionSet: the media playlists of one stream: either one of the default tracks muxed together, or one per track with a
// master playlist. All are at the same segment number and share the stream's memory limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/text/variables.hpp"
#include "base/time.hpp"
#include "service/files/path_claims.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/files/keys.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/rendition.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::hls {

class RenditionSet {
public:
    // Referenced objects must outlive this.
    struct Setup {
        Rendition::Shared shared;
        const StreamName& name;
        const std::string& url;
        Zone zone = Zone::local;
        FileIndex& index;
        StreamOutput& output;       // the owner of these playlists
        files::PathClaims& claims;  // for files of separate tracks; those of the default tracks are already claimed
        Log log;
    };

    RenditionSet(Setup setup, const ListRules& rules);
    ~RenditionSet() { take_all(); }
    RenditionSet(const RenditionSet&) = delete;
    RenditionSet& operator=(const RenditionSet&) = delete;

    // Reports whether each track has a rendition. Otherwise the default tracks share one.
    bool is_by_track() const { return is_by_track_; }
    // Switches to one rendition per track: segments of the shared rendition leave its list.
    void begin_tracks();
    Rendition& together() { return *all_.front(); }
    const Rendition& together() const { return *all_.front(); }
    // The renditions that currently receive segments.
    std::vector<Rendition*> active() const;

    void add(const segments::HeadersChanged& made);
    void add(const segments::PartMade& made);
    // The number of the next segment; none if there is no active rendition.
    std::optional<std::uint64_t> next_number() const;
    // Called for each rendition's listed segment, once it has been listed in all of them.
    using Listed = std::function<void(Rendition&, const ListedSegment&)>;
    void add(const segments::SegmentMade& made, const Keys* keys, const Listed& listed);
    // Returns the place of a segment in the lists, as numbers of which the first is the segment's. With it and the state in which
    // the segment begins, another node lists the same segments from there on. Call before the segment's headers are added.
    std::vector<std::uint64_t> place_of(const segments::SegmentState& begins) const;
    // The count of these numbers. The caller may append others.
    static std::size_t place_size(const segments::SegmentState& begins);
    // Continues like the node that wrote `place`. `missing`: media time since the last listed segment.
    void align(const segments::SegmentState& begins, const std::vector<std::uint64_t>& place, MediaTime missing);
    // The number of the next segment in the lists.
    std::uint64_t next_listed() const;
    // The number of the first listed segment; none if the lists are empty.
    std::optional<std::uint64_t> first_listed() const;
    // Drops the segment in progress, whose parts are listed.
    void drop_open();
    void set_ended(bool ended);
    // Invalidates rendered playlists. `has_reports`: with low latency, each contains rendition reports of the others.
    void changed(bool has_reports);
    // Writes every list to disk.
    void write_lists();
    // Drops segments that left the lists long enough ago; returns the paths of their files.
    std::vector<std::string> clean_up();
    // Resets everything before a fresh start; returns the paths of all files.
    std::vector<std::string> take_all();
    // The files have been removed: other outputs may claim their names.
    void release_claims() { claims_.clear(); }
    // Makes the stream's own playlist available to requests.
    void put_in_index();

    // Returns the master playlist; none before the first track. `uri_of` returns the URI of a track's playlist.
    using UriOf = std::function<std::string(const Names&)>;
    std::optional<std::string> master_text(const media::Source& source, const UriOf& uri_of,
                                           const std::vector<wire::hls::Rendition>& subtitles) const;
    // Whether renditions that are made on demand, here or at the origin, are not in it yet, and will be.
    bool awaits_some(const media::Source& source) const;
    bool has_playlist() const;
    bool has_segment() const;
    bool has_hint() const;
    bool is_cut_by_bytes() const;
    // The longest target duration of all renditions.
    MediaTime target_duration() const;
    // Bytes in memory.
    std::size_t bytes() const;
    bool has_open() const;

private:
    // nullptr if another stream has claimed these file names.
    Rendition* find_or_make(const segments::RepresentationId& id);
    bool claim(const Names& names);
    bool is_listed(const Rendition& rendition) const;
    void share_bytes();
    const SegmentList& peer() const;

    const Setup setup_;
    const ListRules rules_;
    std::vector<std::unique_ptr<Rendition>> all_;   // together() first; kept, as their files may still be queued for disk
    std::vector<Rendition*> current_;               // in the order of the last headers; nullptr as above
    std::vector<segments::RepresentationId> ids_;   // of `current_`
    std::vector<files::PathClaims::Claim> claims_;  // to files of separate tracks
    bool is_by_track_ = false;
    bool claims_logged_ = false;  // a conflicting claim has been logged
};

}  // namespace live::service::hls
