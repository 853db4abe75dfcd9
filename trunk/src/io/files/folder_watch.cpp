#include "io/files/folder_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/inotify.h>
#include <unistd.h>

#include "io/files/file_error.hpp"

namespace live::io {

Result<std::unique_ptr<FolderWatch>> FolderWatch::open(const std::string& folder, std::vector<std::string> names) {
    Socket socket(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!socket.is_open())
        return system_error("watching folders", errno);
    if (::inotify_add_watch(socket.fd(), folder.c_str(), IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR) < 0)
        return file_error("watching " + folder, errno);
    return std::make_unique<FolderWatch>(Private{}, std::move(socket), std::move(names));
}

Result<void> FolderWatch::wait(Deadline deadline) {
    while (!TRY(read_events())) {
        socket_.set_blocked(Interest::readable);
        TRY(socket_.wait_for(Interest::readable, deadline));
    }
    return {};
}

Result<bool> FolderWatch::read_events() {
    alignas(inotify_event) std::array<char, 4096> buffer;
    bool is_changed = false;
    for (;;) {
        const ssize_t count = ::read(socket_.fd(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno != EAGAIN)
            return system_error("reading the changes of a folder", errno);
        if (count <= 0)
            return is_changed;
        inotify_event event{};
        for (std::size_t at = 0; at + sizeof event <= static_cast<std::size_t>(count); at += sizeof event + event.len) {
            std::memcpy(&event, buffer.data() + at, sizeof event);
            if ((event.mask & IN_IGNORED) != 0U)
                return Error(Errc::closed, "the watched folder is gone");
            // The name is padded with zeros. Too many changes: any file may be among them.
            const char* const name = buffer.data() + at + sizeof event;
            const std::string_view text(name, event.len == 0 ? 0 : ::strnlen(name, event.len));
            is_changed = is_changed || (event.mask & IN_Q_OVERFLOW) != 0U || std::ranges::find(names_, text) != names_.end();
        }
    }
}

}  // namespace live::io
