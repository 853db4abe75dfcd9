#include "io/fan_send.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace live::io {

void send_to_all(std::span<const int> descriptors, std::span<const ::iovec> parts, std::size_t total,
                 std::vector<ShortSend>& missed) {
    ::msghdr message{};
    message.msg_iov = const_cast<::iovec*>(parts.data());
    message.msg_iovlen = parts.size();
    constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        const ::ssize_t sent = parts.size() == 1 ? ::send(descriptors[i], parts[0].iov_base, parts[0].iov_len, kFlags)
                                                 : ::sendmsg(descriptors[i], &message, kFlags);
        if (sent == static_cast<::ssize_t>(total))
            continue;
        const bool failed = sent < 0 && errno != EAGAIN && errno != EINTR;
        missed.push_back({i, sent < 0 ? 0 : static_cast<std::size_t>(sent), failed ? errno : 0});
    }
}

}  // namespace live::io
