#include "media/ring/rendition_names.hpp"

#include <algorithm>
#include <charconv>

#include "base/check.hpp"
#include "media/ring/track_names.hpp"

namespace live::media {

namespace {

std::string numbered_name(const Track& track) { return "video-" + std::to_string(static_cast<unsigned>(track.id)); }

bool has_name(const Track& track, std::string_view name) { return track.kind == MediaKind::video && track.name == name; }

}  // namespace

std::string rendition_name(const std::vector<Track>& all, const Track& track) {
    const auto is_first = [&](const Track& other) { return has_name(other, track.name); };
    const auto first = std::ranges::find_if(all, is_first);
    const bool owns_name = !track.name.empty() && track.name != kSourceRendition && first != all.end() && first->id == track.id;
    return owns_name ? track.name : numbered_name(track);
}

const Track* find_rendition(const std::vector<Track>& all, const Track* source, std::string_view name) {
    if (name.empty() || name == kSourceRendition)
        return source;
    for (const Track& track : all)
        if (has_name(track, name))
            return &track;
    for (const Track& track : all)
        if (track.kind == MediaKind::video && numbered_name(track) == name)
            return &track;
    return nullptr;
}

std::string write_rendition_list(const RenditionList& list) {
    CHECK(list.entries.size() <= RenditionList::kMax);
    std::string text;
    for (const auto& [track, name, is_awaited] : list.entries) {
        CHECK(!name.empty() && is_track_name(name));
        text += (track ? std::to_string(static_cast<unsigned>(*track)) : is_awaited ? "+" : "-") + " " + name + "\n";
    }
    return text;
}

Result<RenditionList> read_rendition_list(std::string_view text) {
    RenditionList list;
    while (!text.empty()) {
        if (list.entries.size() == RenditionList::kMax)
            return Error(Errc::limit, "too many renditions in a list");
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::size_t space = line.find(' ');
        if (end == std::string_view::npos || space == std::string_view::npos)
            return Error(Errc::malformed, "a line of a list of renditions is not complete");
        const std::string_view id = line.substr(0, space);
        RenditionList::Entry entry{std::nullopt, std::string(line.substr(space + 1)), id == "+"};
        if (id != "-" && id != "+") {
            std::uint8_t number = 0;
            const auto read = std::from_chars(id.data(), id.data() + id.size(), number);
            if (read.ec != std::errc() || read.ptr != id.data() + id.size())
                return Error(Errc::malformed, "no id of a track in a list of renditions");
            entry.track = TrackId{number};
        }
        if (entry.name.empty() || !is_track_name(entry.name))
            return Error(Errc::malformed, "an invalid name in a list of renditions");
        list.entries.push_back(std::move(entry));
        text.remove_prefix(end + 1);
    }
    return list;
}

}  // namespace live::media
