// AppendFile: a file that lines are appended to for as long as the process lives: a log. It is opened anew when somebody has
// moved it away. A write takes as long as the file system, or whoever reads the pipe, makes it take: it is for a thread of its
// own.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::io {

class AppendFile {
public:
    // Closed, or `standing`: a descriptor that is written to until open(), and that stays open.
    explicit AppendFile(int standing = -1) : file_(standing) {}
    ~AppendFile();
    AppendFile(const AppendFile&) = delete;
    AppendFile& operator=(const AppendFile&) = delete;

    bool is_open() const { return file_ >= 0; }
    // -1 when it is closed.
    int native_handle() const { return file_; }
    // Opens `path`, which is made 0664 less the umask when it is not there. Errc::system: what was open before stays open.
    Result<void> open(const std::string& path);
    // Takes what went into the file off the front of `text`. Errc::system, as on a full disk: something is left.
    Result<void> write(std::string_view& text);

private:
    void close();

    int file_;
    bool is_ours_ = false;
};

}  // namespace live::io
