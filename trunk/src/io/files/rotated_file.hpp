// RotatedFile: a log file of whole lines, which is moved away when it has reached its size, or a descriptor such as the console.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/files/append_file.hpp"

namespace live::io {

class RotatedFile {
public:
    // When PATH would grow beyond this many bytes, it becomes PATH.1, PATH.1 becomes PATH.2, and so on up to PATH.`backups`,
    // which is deleted. 0: never.
    struct Rotation {
        std::uint64_t file_bytes_max = 0;
        std::uint32_t backups = 0;
    };

    // An empty path: `standing`, which is never closed.
    RotatedFile(std::string path, int standing, Rotation rotation)
        : path_(std::move(path)), rotation_(rotation), file_(path_.empty() ? standing : -1) {}

    // Opens the path again. Errc::system: the previous file stays open.
    Result<void> open();
    int native_handle() const { return file_.native_handle(); }

    // Returns how many bytes of the text go into the current file: whole lines, or the rest of one. 0: a new file is due.
    std::size_t fitting(std::string_view text) const;
    // Removes written bytes from the front of `text`. Errors as AppendFile::write.
    Result<void> write(std::string_view& text);
    // Whether the file ends within a line.
    bool is_within_line() const { return is_within_line_; }

    // Moves the file away. True: open() is due. False: another program has truncated it, and it continues. Errc::system.
    Result<bool> move_away();
    // Continues with the current file, up to the same growth again.
    void postpone_rotation() { bytes_max_ = bytes_ + rotation_.file_bytes_max; }

private:
    Result<void> rename_all() const;

    const std::string path_;
    const Rotation rotation_;
    AppendFile file_;
    bool is_regular_ = false;
    std::uint64_t bytes_ = 0;
    std::uint64_t bytes_max_ = 0;
    bool is_within_line_ = false;
};

}  // namespace live::io
