// RenditionSet: the media playlists of one stream: that of its default tracks together, or one for each track and the playlist
// above them. They stand at one number, and share the memory that the stream may have.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/time.hpp"
#include "base/variables.hpp"
#include "service/files/path_claims.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/keys.hpp"
#include "service/hls/names.hpp"
#include "service/hls/rendition.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::hls {

class RenditionSet {
public:
    // What is referred to outlives this.
    struct Setup {
        Rendition::Shared shared;
        const StreamName& name;
        const std::string& url;
        Zone zone = Zone::local;
        FileIndex& index;
        StreamOutput& output;       // whose playlists they are
        files::PathClaims& claims;  // for files of tracks; those of the default ones are claimed already
        Log log;
    };

    RenditionSet(Setup setup, const ListRules& rules);
    ~RenditionSet() { take_all(); }
    RenditionSet(const RenditionSet&) = delete;
    RenditionSet& operator=(const RenditionSet&) = delete;

    // Whether each track has one; else there is that of the default tracks together.
    bool is_by_track() const { return is_by_track_; }
    // What comes is of tracks: what is listed of all together leaves the list.
    void begin_tracks();
    Rendition& together() { return *all_.front(); }
    const Rendition& together() const { return *all_.front(); }
    // Those that segments are made for.
    std::vector<Rendition*> active() const;

    void add(const segments::HeadersChanged& made);
    void add(const segments::PartMade& made);
    // That segments get next; none when nothing is made.
    std::optional<std::uint64_t> next_number() const;
    // Each is told of what was listed, once all are.
    using Listed = std::function<void(Rendition&, const ListedSegment&)>;
    void add(segments::SegmentMade made, const Keys* keys, const Listed& listed);
    void set_ended(bool ended);
    // For texts, which are made anew. `has_reports`: with low latency, each says how far the others are.
    void changed(bool has_reports);
    // The list of each to the disk.
    void write_lists();
    // Lets go of what has left the lists for long enough; the paths of its files.
    std::vector<std::string> clean_up();
    // Forgets everything, on the way to begin anew; the paths of all files.
    std::vector<std::string> take_all();
    // The files are gone: others may have their names.
    void release_claims() { claims_.clear(); }
    // The stream's own playlist is there to be asked for.
    void put_in_index();

    // None before there is something to name. `uri_of` makes the address of a track's playlist.
    using UriOf = std::function<std::string(const Names&)>;
    std::optional<std::string> master_text(const media::Source& source, const UriOf& uri_of) const;
    bool has_playlist() const;
    bool has_segment() const;
    bool has_hint() const;
    bool is_cut_by_bytes() const;
    // The longest.
    MediaTime target_duration() const;
    // Of memory.
    std::size_t bytes() const;
    bool has_open() const;

private:
    // nullptr: another stream has files of these names.
    Rendition* find_or_make(const segments::RepresentationId& id);
    bool claim(const Names& names);
    bool is_listed(const Rendition& rendition) const;
    void share_bytes();

    const Setup setup_;
    const ListRules rules_;
    std::vector<std::unique_ptr<Rendition>> all_;   // together() first; they stay, because files of theirs may still be written
    std::vector<Rendition*> current_;               // as the last headers; nullptr as above
    std::vector<segments::RepresentationId> ids_;   // theirs
    std::vector<files::PathClaims::Claim> claims_;  // to files of tracks
    bool is_by_track_ = false;
    bool claims_told_ = false;  // that another stream has them
};

}  // namespace live::service::hls
