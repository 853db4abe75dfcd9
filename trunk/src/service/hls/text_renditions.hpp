// TextRenditions: the playlists of a stream's subtitles, one per language, whose segments are those of the video (RFC 8216, 3.5).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/hls/rendition_set.hpp"
#include "service/hls/timed/subtitles.hpp"

namespace live::service::hls {

class TextRenditions {
public:
    // Referenced objects must outlive this.
    TextRenditions(RenditionSet::Setup setup, const ListRules& rules) : setup_(std::move(setup)), rules_(rules) {
        rules_.low_latency = false;
    }
    ~TextRenditions() {
        std::vector<std::string> paths;
        take_all(paths);
    }
    TextRenditions(const TextRenditions&) = delete;
    TextRenditions& operator=(const TextRenditions&) = delete;

    // As Subtitles::add().
    bool add(const media::TimedEvent& text, MediaTime lead) { return lines_.add(text, lead); }
    // The next segment of the video, which is not in its list yet.
    void add(const segments::SegmentMade& made, const Rendition& video);
    // Another publisher starts.
    void clear_lines() { lines_.clear(); }
    void set_ended(bool ended);
    void write_lists();
    // Both add the paths of files that players do not need, as RenditionSet does.
    void clean_up(std::vector<std::string>& paths);
    void take_all(std::vector<std::string>& paths);
    std::size_t bytes() const;
    // Returns the entries of a master playlist.
    std::vector<wire::hls::Rendition> media(const RenditionSet::UriOf& uri_of) const;

private:
    void make_missing(const SegmentList& video);

    const RenditionSet::Setup setup_;
    ListRules rules_;
    Subtitles lines_;
    std::vector<std::unique_ptr<Rendition>> all_;  // as the languages
    std::vector<files::PathClaims::Claim> claims_;
};

}  // namespace live::service::hls
