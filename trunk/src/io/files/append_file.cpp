#include "io/files/append_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace live::io {

namespace {

// rw-rw-r--, less the umask.
constexpr mode_t kFileMode = 0664;

}  // namespace

AppendFile::~AppendFile() { close(); }

void AppendFile::close() {
    if (is_ours_)
        ::close(file_);
}

Result<void> AppendFile::open(const std::string& path) {
    const int opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
    if (opened < 0)
        return system_error("cannot open " + path, errno);
    close();
    file_ = opened;
    is_ours_ = true;
    return {};
}

Result<void> AppendFile::write(std::string_view& text) {
    while (!text.empty()) {
        const ssize_t count = ::write(file_, text.data(), text.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN) {
            ::pollfd room{file_, POLLOUT, 0};
            ::poll(&room, 1, -1);
            continue;
        }
        if (count <= 0)
            return system_error("write", count < 0 ? errno : ENOSPC);
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

}  // namespace live::io
