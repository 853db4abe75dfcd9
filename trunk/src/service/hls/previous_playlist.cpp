#include "service/hls/previous_playlist.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "io/files/file.hpp"
#include "io/files/replace_file.hpp"
#include "wire/hls/playlist_reader.hpp"

namespace live::service::hls {

namespace {

Result<wire::hls::AnyPlaylist> read_playlist(const std::string& file_name, io::Deadline deadline) {
    const std::filesystem::path path(file_name);
    const auto folder = path.parent_path().string();
    const auto file = TRY(io::File::open_below(folder.empty() ? "." : folder, path.filename().string(), deadline));
    const auto text = TRY(file.read(0, wire::hls::kPlaylistBytesMax + 1, deadline));
    return wire::hls::parse_playlist(as_text(text));
}

// Keeps the newest entries whose files all exist, except gaps: every listed file must exist, and numbers must be contiguous.
Result<PreviousPlaylist> complete_part(wire::hls::MediaPlaylist list, const Names& names, io::Deadline deadline) {
    std::vector<std::string> paths;
    for (const wire::hls::Segment& segment : list.segments)
        paths.push_back(names.file_of(segment.uri).value_or(""));
    const auto sizes = TRY(io::file_sizes(paths, deadline));
    std::vector<bool> there;
    for (std::size_t i = 0; i < paths.size(); ++i)
        there.push_back(sizes[i].has_value() || list.segments[i].gap);
    const auto missing = std::find(there.rbegin(), there.rend(), false);
    const auto gone = static_cast<std::size_t>(there.rend() - missing);
    PreviousPlaylist left;
    left.first_number = list.media_sequence + gone;
    left.discontinuities = list.discontinuity_sequence;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        wire::hls::Segment& entry = list.segments[i];
        if (i < gone) {
            left.discontinuities += entry.discontinuity ? 1 : 0;
            continue;
        }
        ListedSegment segment;
        segment.name = {paths[i], entry.uri.substr(0, entry.uri.find('?')), ""};
        segment.duration = entry.duration;
        segment.discontinuity = entry.discontinuity;
        segment.absent = entry.gap;
        segment.key = std::move(entry.key);
        segment.map = std::move(entry.map);
        segment.date = entry.date;
        segment.independent = list.independent;
        segment.bytes = static_cast<std::size_t>(sizes[i].value_or(0));
        left.segments.push_back(std::move(segment));
    }
    return left;
}

}  // namespace

Result<PreviousPlaylist> read_previous_playlist(const Names& names, io::Deadline deadline) {
    auto before = TRY(read_playlist(names.playlist_file(), deadline));
    if (before.variants.empty())
        return complete_part(std::move(before.media), names, deadline);
    const auto file = names.file_of(before.variants.front());
    if (!file)
        return Error(Errc::malformed, "the playlist names one that is elsewhere");
    const auto of_track = TRY(read_playlist(*file, deadline));
    PreviousPlaylist left;
    left.first_number = of_track.media.media_sequence + of_track.media.segments.size();
    left.discontinuities = of_track.media.discontinuity_sequence;
    for (const wire::hls::Segment& segment : of_track.media.segments)
        left.discontinuities += segment.discontinuity ? 1 : 0;
    return left;
}

}  // namespace live::service::hls
