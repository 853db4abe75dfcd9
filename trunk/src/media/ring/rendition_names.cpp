#include "media/ring/rendition_names.hpp"

#include <algorithm>

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

}  // namespace live::media
