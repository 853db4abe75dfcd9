#include "service/recordings/recording_index.hpp"

#include <algorithm>
#include <utility>

#include "wire/rtmp/stream_url.hpp"

namespace live::service::recordings {

namespace {

// A node of the map, without the texts.
constexpr std::size_t kStreamBytes = 256;
// An entry of the table of starts.
constexpr std::size_t kStartBytes = 48;
constexpr std::size_t kSpansAtOnceMax = 8;

bool is_before(const RecordingFile& a, const RecordingFile& b) { return a.start < b.start; }

}  // namespace

std::string url_of(const std::string& vhost, const std::string& app, const std::string& stream) {
    return (vhost == wire::rtmp::kDefaultVhost ? "" : vhost) + "/" + app + "/" + stream;
}

std::string RecordedStream::url() const { return url_of(vhost, app, stream); }

std::vector<RecordingFile>::iterator RecordingIndex::place_of(RecordedStream& stream, const std::string& path) {
    auto& files = stream.files;
    const auto known = starts_.find(std::hash<std::string>()(path));
    if (known == starts_.end())
        return files.end();
    for (auto at = std::ranges::lower_bound(files, known->second, {}, &RecordingFile::start);
         at != files.end() && at->start == known->second; ++at)
        if (at->path == path)
            return at;
    return files.end();
}

void RecordingIndex::count(RecordedStream& stream, const RecordingFile& file, std::int64_t sign) {
    stream.bytes += static_cast<std::uint64_t>(sign) * file.bytes;
    files_ += static_cast<std::size_t>(sign);
    bytes_ += static_cast<std::uint64_t>(sign) * file.bytes;
    text_bytes_ += static_cast<std::size_t>(sign) * file.path.capacity();
    const std::size_t key = std::hash<std::string>()(file.path);
    if (sign > 0)
        starts_[key] = file.start;
    else
        starts_.erase(key);
}

Result<void> RecordingIndex::put(const std::string& vhost, const std::string& app, const std::string& stream,
                                 RecordingFile file) {
    const std::string url = url_of(vhost, app, stream);
    auto known = streams_.find(url);
    if (known != streams_.end()) {
        auto& files = known->second.files;
        const auto same = place_of(known->second, file.path);
        if (same != files.end() && same->start == file.start) {
            count(known->second, *same, -1);
            count(known->second, file, 1);
            *same = std::move(file);
            return {};
        }
        if (same != files.end()) {
            count(known->second, *same, -1);
            files.erase(same);
        }
    }
    if (files_ >= kFilesMax)
        return Error(Errc::limit, "more recordings than the list has");
    if (known == streams_.end())
        known =
            streams_.emplace(url, RecordedStream{.vhost = vhost, .app = app, .stream = stream, .files = {}, .bytes = 0}).first;
    auto& files = known->second.files;
    count(known->second, file, 1);
    const auto place = std::ranges::upper_bound(files, file, is_before);
    files.insert(place, std::move(file));
    return {};
}

std::optional<RecordingFile> RecordingIndex::remove(const std::string& url, const std::string& path) {
    const auto known = streams_.find(url);
    if (known == streams_.end())
        return std::nullopt;
    auto& files = known->second.files;
    const auto place = place_of(known->second, path);
    if (place == files.end())
        return std::nullopt;
    count(known->second, *place, -1);
    std::optional removed(std::move(*place));
    files.erase(place);
    if (files.empty())
        streams_.erase(known);
    return removed;
}

void RecordingIndex::forget(const std::string& url) {
    const auto known = streams_.find(url);
    if (known == streams_.end())
        return;
    for (const RecordingFile& file : known->second.files)
        count(known->second, file, -1);
    streams_.erase(known);
}

const RecordedStream* RecordingIndex::find(const std::string& url) const {
    const auto known = streams_.find(url);
    return known == streams_.end() ? nullptr : &known->second;
}

RecordingFile* RecordingIndex::find_file(const std::string& url, const std::string& path) {
    const auto known = streams_.find(url);
    if (known == streams_.end())
        return nullptr;
    const auto place = place_of(known->second, path);
    return place == known->second.files.end() ? nullptr : &*place;
}

std::size_t RecordingIndex::memory_bytes(const RecordedStream& stream) const {
    const std::size_t texts = files_ == 0 ? 0 : text_bytes_ / files_;
    return kStreamBytes + stream.files.capacity() * sizeof(RecordingFile) + stream.files.size() * (texts + kStartBytes);
}

std::size_t RecordingIndex::memory_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [url, stream] : streams_)
        bytes += memory_bytes(stream);
    return bytes;
}

std::vector<RecordedSpan> spans_of(const RecordedStream& stream, std::optional<WallTime> from, std::optional<WallTime> to) {
    std::vector<RecordedSpan> spans;
    for (const RecordingFile& file : stream.files) {
        if (file.duration <= MediaTime::zero())
            continue;
        // After a clock was set back, the files of two spans alternate.
        const std::size_t back = std::min(spans.size(), kSpansAtOnceMax);
        const auto continued =
            std::find_if(spans.rbegin(), spans.rbegin() + static_cast<std::ptrdiff_t>(back), [&file](const auto& span) {
                const MediaTime gap = file.start - (span.start + span.duration);
                return gap <= RecordingIndex::kGapMax && gap >= -RecordingIndex::kGapMax;
            });
        if (continued != spans.rbegin() + static_cast<std::ptrdiff_t>(back)) {
            continued->duration = std::max(continued->duration, file.end() - continued->start);
            continued->bytes += file.bytes;
            ++continued->files;
            continued->is_open = continued->is_open || file.is_open;
            continue;
        }
        spans.push_back({file.start, file.duration, file.bytes, 1, file.is_open});
    }
    std::erase_if(spans, [&](RecordedSpan& span) {
        const WallTime start = from ? std::max(span.start, *from) : span.start;
        const WallTime end = to ? std::min(span.start + span.duration, *to) : span.start + span.duration;
        span.start = start;
        span.duration = end - start;
        return end <= start;
    });
    return spans;
}

std::vector<RecordingFile> files_from(const RecordedStream& stream, WallTime start, MediaTime duration) {
    const auto& files = stream.files;
    // The newest recording that runs at this time: after a clock was set back, two do.
    auto at = files.size();
    for (std::size_t i = 0; i < files.size() && files[i].start <= start; ++i)
        if (files[i].end() > start)
            at = i;
    if (at == files.size())
        at = static_cast<std::size_t>(
            std::ranges::find_if(files, [start](const RecordingFile& file) { return file.start > start; }) - files.begin());
    std::vector<RecordingFile> chosen;
    for (; at < files.size() && files[at].start < start + duration; ++at) {
        if (files[at].duration <= MediaTime::zero())
            continue;
        if (chosen.empty() || files[at].start >= chosen.back().end() - RecordingIndex::kGapMax)
            chosen.push_back(files[at]);
    }
    return chosen;
}

const RecordingFile* file_at(const RecordedStream& stream, WallTime start) {
    for (auto at = std::ranges::lower_bound(stream.files, start, {}, &RecordingFile::start);
         at != stream.files.end() && at->start == start; ++at)
        if (at->format == FileFormat::fmp4)
            return &*at;
    return nullptr;
}

}  // namespace live::service::recordings
