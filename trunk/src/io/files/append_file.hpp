// AppendFile: a log file that is appended to for the lifetime of the process, and reopened when it has been moved away. A write
// blocks as long as the file system, or the reader of the pipe, makes it block, so it belongs in a thread of its own.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::io {

class AppendFile {
public:
    // Closed, or `standing`: a descriptor that is used until open() and never closed.
    explicit AppendFile(int standing = -1) : file_(standing) {}
    ~AppendFile();
    AppendFile(const AppendFile&) = delete;
    AppendFile& operator=(const AppendFile&) = delete;

    bool is_open() const { return file_ >= 0; }
    // -1 when closed.
    int native_handle() const { return file_; }
    // Opens `path`, creating it with mode 0664 less the umask. Errc::system: the previous file stays open.
    Result<void> open(const std::string& path);
    // Removes the written bytes from the front of `text`. Errc::system, as on a full disk: `text` has the rest.
    Result<void> write(std::string_view& text);

private:
    void close();

    int file_;
    bool is_ours_ = false;
};

}  // namespace live::io
