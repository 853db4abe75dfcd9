#include "session/content/open_files.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/fibers/off_loop.hpp"
#include "session/content/gzip.hpp"
#include "wire/http/date.hpp"

namespace live::session::content {

namespace {

std::string key_of(const std::string& folder, const std::string& path) {
    std::string key;
    key.reserve(folder.size() + 1 + path.size());
    // Neither has a zero byte.
    key.append(folder).append(1, '\0').append(path);
    return key;
}

}  // namespace

ServedFile::ServedFile(io::File file)
    : file_(std::move(file)),
      tag_(fmt::format("\"{:x}-{:x}\"", facts().modified.count(), facts().size)),
      modified_(std::chrono::floor<std::chrono::seconds>(facts().modified)),
      modified_text_(wire::http::format_date(modified_)) {}

void ServedFile::keep_content(std::chrono::system_clock::time_point now, std::size_t bytes_max) {
    constexpr std::chrono::seconds kSettled{1};
    const auto size = static_cast<std::size_t>(facts().size);
    if (!content_.empty() || size == 0 || size > bytes_max || now.time_since_epoch() - facts().changed < kSettled)
        return;
    std::vector<std::uint8_t> bytes(size);
    const auto got = file_.try_read(0, bytes);
    if (got.ok() && *got == size && file_.is_unchanged())
        content_ = std::move(bytes);
}

Result<void> ServedFile::compress(io::Deadline deadline) {
    if (std::exchange(is_compressing_, true))
        return {};
    const auto outcome = [&]() -> Result<void> {
        auto bytes = content_.empty() ? TRY(file_.read(0, static_cast<std::size_t>(facts().size), deadline)) : content_;
        if (bytes.size() != facts().size || !file_.is_unchanged())
            return {};
        const std::size_t size = bytes.size();
        const std::string packed = TRY(io::off_loop([whole = std::move(bytes)] { return gzip(whole); }, deadline));
        if (packed.size() < size)
            compressed_.assign(packed.begin(), packed.end());
        return {};
    }();
    // The next request tries again.
    is_compressing_ = outcome.ok();
    return outcome;
}

Result<ServedFileRef> OpenFiles::open(const std::string& folder, const std::string& path, std::size_t content_max, TimePoint now,
                                      io::Deadline deadline) {
    std::string key = key_of(folder, path);
    if (const auto found = entries_.find(key); found != entries_.end()) {
        Entry& entry = found->second;
        entry.used_at = now;
        if (now - entry.opened_at < kCheckedFor && entry.file->file().is_unchanged())
            return entry.file;
    }
    auto at_hand = io::File::try_open_below(folder, path);
    if (at_hand.ok())
        return keep(std::move(key), *std::move(at_hand), content_max, now);
    entries_.erase(key);
    if (at_hand.code() != Errc::need_more)
        return Error(at_hand.error());
    return std::make_shared<ServedFile>(TRY(io::File::open_below(folder, path, deadline)));
}

ServedFileRef OpenFiles::keep(std::string key, io::File file, std::size_t content_max, TimePoint now) {
    const auto found = entries_.find(key);
    if (found != entries_.end() && found->second.file->facts() == file.facts()) {
        found->second.opened_at = now;
        // Not for the first request: most files are requested once.
        const std::size_t room = kContentBytesMax - std::min(content_bytes(), kContentBytesMax);
        found->second.file->keep_content(std::chrono::system_clock::now(), std::min(content_max, room));
        return found->second.file;
    }
    auto served = std::make_shared<ServedFile>(std::move(file));
    if (served->facts().is_folder) {
        entries_.erase(key);
        return served;
    }
    if (found == entries_.end() && entries_.size() >= kFilesMax)
        make_room();
    entries_.insert_or_assign(std::move(key), Entry{served, now, now});
    return served;
}

void OpenFiles::make_room() {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.used_at; });
    if (oldest != entries_.end())
        entries_.erase(oldest);
}

Result<void> OpenFiles::compress(ServedFile& file, io::Deadline deadline) const {
    const std::uint64_t size = file.facts().size;
    if (size < kGzipBodyMin || size > kCompressedMax || content_bytes() + size > kContentBytesMax)
        return {};
    const auto made = file.compress(deadline);
    // When all workers are busy the file is sent as it is.
    return made.ok() || made.code() == Errc::limit || made.code() == Errc::system ? Result<void>() : made;
}

void OpenFiles::trim(TimePoint now) {
    std::erase_if(entries_, [now](const auto& entry) { return now - entry.second.used_at >= kUnusedMax; });
}

std::size_t OpenFiles::content_bytes() const {
    std::size_t sum = 0;
    for (const auto& [key, entry] : entries_)
        sum += entry.file->content().size() + entry.file->compressed().size();
    return sum;
}

}  // namespace live::session::content
