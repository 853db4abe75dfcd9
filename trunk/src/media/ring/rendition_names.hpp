// The names by which players choose one of several video tracks: the same for every protocol. The stream itself is "source". A
// further track has the name that its publisher or its ladder gave it, or "video-ID", as in the name of its HLS playlist. Nodes
// that relay the stream get the names of renditions by a list, because metadata has only those of the publisher.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "media/ring/track.hpp"

namespace live::media {

inline constexpr std::string_view kSourceRendition = "source";

// Returns the name of a further video track. The first of several tracks with one name has it.
std::string rendition_name(const std::vector<Track>& all, const Track& track);
// Returns the video track with this name; nullptr if none has it. `source` is the default track, nullptr if unknown.
const Track* find_rendition(const std::vector<Track>& all, const Track* source, std::string_view name);

// The renditions of a stream as its node announces them to other nodes (kRelayRenditions): a line for each, "ID NAME", or without
// a track "+ NAME" if outputs wait for its first frame, otherwise "- NAME": it is made on demand, or returns later.
struct RenditionList {
    static constexpr std::size_t kMax = 16;
    struct Entry {
        std::optional<TrackId> track;
        std::string name;
        bool is_awaited = false;  // has no track, and outputs wait for it

        bool operator==(const Entry&) const = default;
    };
    std::vector<Entry> entries;

    bool operator==(const RenditionList&) const = default;
};

// At most kMax entries, whose names are valid and not empty.
std::string write_rendition_list(const RenditionList& list);
// Errc::malformed, Errc::limit above kMax.
Result<RenditionList> read_rendition_list(std::string_view text);

}  // namespace live::media
