#include "service/dash/previous_mpd.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "io/files/file.hpp"
#include "io/files/replace_file.hpp"

namespace live::service::dash {

namespace {

// An initialization section has some hundred bytes.
constexpr std::size_t kHeaderBytesMax = 1 << 20;

Result<std::vector<std::uint8_t>> read_file(const std::string& file_name, std::size_t bytes_max, io::Deadline deadline) {
    const std::filesystem::path path(file_name);
    const auto folder = path.parent_path().string();
    const auto file = TRY(io::File::open_below(folder.empty() ? "." : folder, path.filename().string(), deadline));
    auto bytes = TRY(file.read(0, bytes_max + 1, deadline));
    if (bytes.size() > bytes_max)
        return Error(Errc::limit, "a file of too many bytes");
    return bytes;
}

// Drops the segments up to the newest one without all its files, and returns the sizes of the files as in PreviousMpd.
Result<std::vector<std::size_t>> keep_complete(std::vector<ReadMpd::Track>& tracks, std::uint64_t first,
                                               const std::string& folder, io::Deadline deadline) {
    const std::size_t count = tracks.front().segments.size();
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i)
        for (const ReadMpd::Track& track : tracks)
            paths.push_back(fmt::format("{}{}-{}.m4s", folder, track.id, first + i));
    const auto sizes = TRY(io::file_sizes(std::move(paths), deadline));
    const auto missing = std::find(sizes.rbegin(), sizes.rend(), std::nullopt);
    const auto gone = (static_cast<std::size_t>(sizes.rend() - missing) + tracks.size() - 1) / tracks.size();
    for (ReadMpd::Track& track : tracks)
        track.segments.erase(track.segments.begin(), track.segments.begin() + static_cast<std::ptrdiff_t>(gone));
    std::vector<std::size_t> bytes;
    for (std::size_t i = gone * tracks.size(); i < sizes.size(); ++i)
        bytes.push_back(static_cast<std::size_t>(*sizes[i]));
    return bytes;
}

}  // namespace

Result<PreviousMpd> read_previous_mpd(const std::string& mpd, const std::string& folder, io::Deadline deadline) {
    const auto bytes = TRY(read_file(mpd, kMpdBytesMax, deadline));
    auto read = TRY(read_mpd(as_text(bytes)));
    PreviousMpd left;
    left.began = read.began;
    left.next_number = read.first_number + read.tracks.front().segments.size();
    for (const ReadMpd::Track& track : read.tracks)
        left.until = std::max(left.until, track.segments.back().start + track.segments.back().duration);
    left.inits = read.init_number + 1;
    left.period_start = read.period_start;
    for (const ReadMpd::Track& track : read.tracks) {
        auto header =
            read_file(fmt::format("{}{}-init{}.mp4", folder, track.id, init_suffix(read.init_number)), kHeaderBytesMax, deadline);
        if (!header.ok()) {
            left.headers.clear();
            break;
        }
        left.headers.push_back(*std::move(header));
    }
    left.bytes = TRY(keep_complete(read.tracks, read.first_number, folder, deadline));
    left.tracks = std::move(read.tracks);
    return left;
}

}  // namespace live::service::dash
