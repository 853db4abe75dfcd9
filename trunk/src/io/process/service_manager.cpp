#include "io/process/service_manager.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace live::io {

Result<void> ServiceManager::reloading(TimePoint now) const {
    // The manager compares it with its own CLOCK_MONOTONIC, which is what steady_clock reads on Linux.
    const auto since_boot = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
    return send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", since_boot.count()));
}

Result<void> ServiceManager::main_process(std::uint32_t pid) const { return send(fmt::format("MAINPID={}", pid)); }

Result<void> ServiceManager::send(std::string_view state) const {
    if (address_.empty())
        return {};
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if ((address_.front() != '/' && address_.front() != '@') || address_.size() >= sizeof to.sun_path)
        return Error(Errc::malformed, fmt::format("NOTIFY_SOCKET is \"{}\", expected an absolute path or @name", address_));
    std::memcpy(to.sun_path, address_.data(), address_.size());
    if (address_.front() == '@')
        to.sun_path[0] = '\0';
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    const auto* address = static_cast<const sockaddr*>(static_cast<const void*>(&to));
    const bool is_sent = fd >= 0 && ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, address, size) >= 0;
    const int error = errno;
    if (fd >= 0)
        ::close(fd);
    return is_sent ? Result<void>() : system_error("notifying the service manager at " + address_, error);
}

}  // namespace live::io
