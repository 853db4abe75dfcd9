#include "supervisor/process/pid_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace live::supervisor {

namespace {

constexpr mode_t kFileMode = 0644;

// A lock of the open file description, not of the process: reading the pid file elsewhere in this process does not release it,
// but an exec does (the file closes on exec).
bool lock_whole_file(int file) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

// The holder's text, for the message.
std::string content_of(int file) {
    char text[32];
    const ssize_t count = ::pread(file, text, sizeof(text), 0);
    return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : "unknown";
}

}  // namespace

Result<std::unique_ptr<PidFile>> PidFile::create(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
    if (file < 0)
        return system_error(fmt::format("cannot open the pid file {}", path), errno);
    auto pid_file = std::make_unique<PidFile>(Private{}, file);
    if (!lock_whole_file(file)) {
        const int reason = errno;
        if (reason == EAGAIN || reason == EACCES)
            return Error(Errc::conflict, fmt::format("the server is already running: pid {} holds {}", content_of(file), path));
        return system_error(fmt::format("cannot lock the pid file {}", path), reason);
    }
    if (auto written = pid_file->write(); !written.ok())
        return std::move(written).error().during(path);
    return pid_file;
}

std::unique_ptr<PidFile> PidFile::adopt(int file) { return std::make_unique<PidFile>(Private{}, file); }

Result<void> PidFile::write() {
    const std::string text = std::to_string(::getpid());
    // In this order the file is never empty for those who read it in an upgrade.
    if (::pwrite(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        ::ftruncate(file_, static_cast<off_t>(text.size())) != 0)
        return system_error("cannot write the pid file", errno);
    return {};
}

PidFile::~PidFile() { ::close(file_); }

}  // namespace live::supervisor
