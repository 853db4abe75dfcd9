#include "service/recordings/recording_scan.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/files/stream_name.hpp"
#include "service/recordings/file_reader.hpp"
#include "wire/mp4/read/box_head.hpp"
#include "wire/mp4/read/fragment_reader.hpp"
#include "wire/mp4/read/segment_map.hpp"

namespace live::service::recordings {

namespace {

namespace fs = std::filesystem;
namespace mp4 = wire::mp4;

// The tag before the end of an FLV file; its time is that of the end.
MediaTime flv_duration(std::uint64_t size, const ReadAt& read) {
    constexpr std::size_t kTagHeadBytes = 11;
    constexpr std::uint64_t kFileHeadBytes = 13;
    if (size < kFileHeadBytes + kTagHeadBytes + 4)
        return {};
    const auto trailer = read(size - 4, 4);
    if (!trailer.ok() || trailer->size() != 4)
        return {};
    const std::uint64_t tag = MUST(ByteReader(*trailer).u32be());
    if (tag < kTagHeadBytes || tag + 4 + kFileHeadBytes > size)
        return {};
    const auto head = read(size - 4 - tag, kTagHeadBytes);
    if (!head.ok() || head->size() != kTagHeadBytes)
        return {};
    ByteReader in(Bytes(*head).subspan(4));
    const std::uint32_t low = MUST(in.u24be());
    const std::uint32_t high = MUST(in.u8());
    return std::chrono::milliseconds(std::int64_t{high << 24 | low});
}

// The movie header of a progressive file, which may be behind its media.
MediaTime movie_duration(std::uint64_t size, const ReadAt& read) {
    constexpr std::size_t kBoxesMax = 64;
    std::uint64_t at = 0;
    for (std::size_t box = 0; box < kBoxesMax && at < size; ++box) {
        const auto bytes = read(at, mp4::BoxStart::kBytesMax);
        const auto head = bytes.ok() ? mp4::read_box_head_of(*bytes) : Result<mp4::BoxStart>(bytes.error());
        if (!head.ok() || head->size > size - at)
            return {};
        if (head->type == mp4::box_type("moov")) {
            const auto movie = read(at, 256);
            return movie.ok() ? mp4::movie_duration_of(Bytes(*movie).subspan(head->head_bytes)) : MediaTime();
        }
        at += head->size;
    }
    return {};
}

constexpr std::size_t kFragmentsAtOnce = 10'000;

std::string without_prefix(const std::string& path, const std::string& folder) {
    return path.starts_with(folder) ? path.substr(folder.size()) : path;
}

// The part of the form below the folder matches the part of the path below it.
std::optional<files::StreamName> name_in(const RecordingRoot& root, const std::string& path) {
    const std::string folder = root.folder();
    return files::match_name(without_prefix(root.form, folder), without_prefix(path, folder));
}

Result<void> read_fragmented(const ReadAt& read, FoundRecording& found, bool& has_note) {
    const auto header = TRY(mp4::read_fragmented_header(found.file.bytes, read));
    found.file.format = FileFormat::fmp4;
    found.file.duration = header.duration;
    has_note = header.note.has_value();
    if (has_note) {
        found.vhost = header.note->vhost;
        found.app = header.note->app;
        found.stream = header.note->stream;
        found.file.start = header.note->start;
    }
    return {};
}

// Names of a note become URLs and lists: an altered file must not inject any others.
bool is_name(const std::string& text) {
    return !text.empty() && std::ranges::none_of(text, [](char letter) { return static_cast<unsigned char>(letter) < ' '; });
}

// How a scan treats files.
struct ScanRules {
    const KnownPaths& known;
    InProgress in_progress;
};

void visit_file(const fs::path& path, const RecordingRoot& root, const ScanRules& rules, Scan& scan) {
    std::string name = path.string();
    const bool is_open = rules.in_progress == InProgress::found && name.ends_with(".mp4.tmp");
    const std::string extension = path.extension().string();
    if (!is_open && extension != ".mp4" && extension != ".flv")
        return;
    if (rules.known.contains(name)) {
        scan.seen.insert(std::move(name));
        return;
    }
    if (is_open)
        name.resize(name.size() - std::string_view(".tmp").size());
    auto found = is_open ? read_open_recording(name) : read_recording(root, name);
    if (found.ok())
        scan.found.push_back(*std::move(found));
    else if (!is_open)
        ++scan.unreadable;
}

void visit_folder(const fs::path& folder, int depth, const RecordingRoot& root, const ScanRules& rules, Scan& scan) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        std::error_code ignored;
        if (entry->is_symlink(ignored))
            continue;
        if (entry->is_directory(ignored)) {
            if (depth < kFolderDepthMax)
                visit_folder(entry->path(), depth + 1, root, rules, scan);
            continue;
        }
        if (scan.found.size() + scan.seen.size() >= RecordingIndex::kFilesMax) {
            scan.is_partial = true;
            return;
        }
        visit_file(entry->path(), root, rules, scan);
    }
}

}  // namespace

std::string pin_path(const std::string& path) { return path + ".pin"; }

bool pin(const std::string& path) {
    const int made = ::open(pin_path(path).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (made >= 0)
        ::close(made);
    return made >= 0;
}

std::string RecordingRoot::folder() const {
    const std::string fixed = form.substr(0, form.find('['));
    return fixed.substr(0, fixed.rfind('/') + 1);
}

Result<FoundRecording> read_recording(const RecordingRoot& root, const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error(Errc::not_found, "there is no recording " + path);
    FileReader file({path});
    const ReadAt read = [&file](std::uint64_t offset, std::size_t count) { return file.read(0, offset, count); };
    FoundRecording found;
    found.file.path = path;
    found.file.bytes = static_cast<std::uint64_t>(status.st_size);
    found.file.is_pinned = ::access(pin_path(path).c_str(), F_OK) == 0;
    bool has_note = false;
    if (path.ends_with(".flv")) {
        found.file.format = FileFormat::flv;
        found.file.duration = flv_duration(found.file.bytes, read);
    } else if (const auto fragmented = read_fragmented(read, found, has_note); !fragmented.ok()) {
        if (fragmented.code() != Errc::unsupported)
            return fragmented.error();
        found.file.format = FileFormat::mp4;
        found.file.duration = movie_duration(found.file.bytes, read);
    }
    if (!has_note) {
        const auto name = name_in(root, path);
        if (!name)
            return Error(Errc::unsupported, path + " is not named as a recording");
        found.vhost = name->vhost.empty() ? root.vhost : name->vhost;
        found.app = name->app;
        found.stream = name->stream;
        const auto changed = std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::duration_cast<std::chrono::microseconds>(
                                                                               std::chrono::nanoseconds(status.st_mtim.tv_nsec));
        found.file.start = WallTime(changed) - found.file.duration;
    }
    if (!is_name(found.vhost) || !is_name(found.stream) || !is_name(found.app))
        return Error(Errc::malformed, path + " is not a recording of a stream");
    return found;
}

Result<FoundRecording> read_open_recording(const std::string& path) {
    struct stat status {};
    if (::lstat((path + ".tmp").c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error(Errc::not_found, "there is no recording " + path);
    FileReader file({path + ".tmp"});
    const ReadAt read = [&file](std::uint64_t offset, std::size_t count) { return file.read(0, offset, count); };
    const auto size = static_cast<std::uint64_t>(status.st_size);
    auto map = TRY(mp4::SegmentMap::open(size, read));
    while (!TRY(map.extend(size, read, kFragmentsAtOnce))) {
    }
    const auto& note = map.header().note;
    if (!note || !map.rest())
        return Error(Errc::need_more, "nothing of " + path + " can be played");
    if (!is_name(note->vhost) || !is_name(note->stream) || !is_name(note->app))
        return Error(Errc::malformed, path + " is not a recording of a stream");
    return FoundRecording{.vhost = note->vhost,
                          .app = note->app,
                          .stream = note->stream,
                          .file = {.path = path,
                                   .start = note->start,
                                   .duration = map.rest()->end(),
                                   .bytes = size,
                                   .is_open = true,
                                   .is_pinned = ::access(pin_path(path).c_str(), F_OK) == 0}};
}

Scan scan_recordings(const std::vector<RecordingRoot>& roots, const KnownPaths& known, InProgress in_progress) {
    Scan scan;
    std::vector<std::string> seen;
    for (const RecordingRoot& root : roots) {
        const std::string folder = root.folder();
        if (std::ranges::find(seen, folder) != seen.end())
            continue;
        seen.push_back(folder);
        visit_folder(folder.empty() ? "." : folder, 0, root, {known, in_progress}, scan);
    }
    std::ranges::sort(scan.found, [](const FoundRecording& a, const FoundRecording& b) {
        return std::tie(a.vhost, a.app, a.stream, a.file.start) < std::tie(b.vhost, b.app, b.stream, b.file.start);
    });
    return scan;
}

}  // namespace live::service::recordings
