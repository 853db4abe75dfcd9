#include "io/files/rotated_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace live::io {

Result<void> RotatedFile::open() {
    if (!path_.empty())
        TRY(file_.open(path_));
    struct stat about {};
    is_regular_ = !path_.empty() && ::fstat(file_.native_handle(), &about) == 0 && S_ISREG(about.st_mode);
    bytes_ = is_regular_ ? static_cast<std::uint64_t>(about.st_size) : 0;
    bytes_max_ = rotation_.file_bytes_max;
    is_within_line_ = false;
    return {};
}

std::size_t RotatedFile::fitting(std::string_view text) const {
    const std::uint64_t room = bytes_max_ - std::min(bytes_max_, bytes_);
    if (rotation_.file_bytes_max == 0 || !is_regular_ || text.size() <= room)
        return text.size();
    const std::size_t first = text.find('\n') + 1;
    if (is_within_line_ || (bytes_ == 0 && first > room))
        return first;
    return room == 0 ? 0 : text.rfind('\n', room - 1) + 1;
}

Result<void> RotatedFile::write(std::string_view& text) {
    const std::string_view whole = text;
    auto written = file_.write(text);
    if (const std::size_t taken = whole.size() - text.size(); taken > 0) {
        is_within_line_ = whole[taken - 1] != '\n';
        bytes_ += taken;
    }
    return written;
}

Result<bool> RotatedFile::move_away() {
    struct stat ours {};
    struct stat named {};
    const bool is_in_place = ::fstat(file_.native_handle(), &ours) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                             ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    // Another program has truncated it, or has moved it without requesting a reopen yet.
    const auto bytes = static_cast<std::uint64_t>(ours.st_size);
    if (bytes < bytes_) {
        bytes_ = bytes;
        return false;
    }
    if (is_in_place)
        TRY(rename_all());
    return true;
}

Result<void> RotatedFile::rename_all() const {
    if (rotation_.backups == 0) {
        if (::unlink(path_.c_str()) != 0)
            return system_error("cannot remove " + path_, errno);
        return {};
    }
    const auto numbered = [this](std::uint32_t number) { return fmt::format("{}.{}", path_, number); };
    // Backups that do not exist yet need no move.
    for (std::uint32_t number = rotation_.backups; number > 1; --number)
        static_cast<void>(std::rename(numbered(number - 1).c_str(), numbered(number).c_str()));
    if (std::rename(path_.c_str(), numbered(1).c_str()) != 0)
        return system_error("cannot rename " + path_, errno);
    return {};
}

}  // namespace live::io
