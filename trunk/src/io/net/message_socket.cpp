#include "io/net/message_socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

Result<std::pair<Socket, Socket>> pair_of(int type) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) < 0)
        return system_error("making a pair of sockets", errno);
    return std::pair{Socket(ends[0]), Socket(ends[1])};
}

Error failure_of(int error) {
    Error failure = system_error("a socket between workers", error);
    const bool is_gone = error == EPIPE || error == ECONNRESET || error == ENOTCONN;
    return is_gone ? Error(Errc::closed, failure.sentence()) : failure;
}

// The first descriptor is kept; more are not expected, and closed.
Socket take_passed(msghdr& message) {
    Socket passed;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
            if (passed.is_open()) {
                ::close(fd);
                continue;
            }
            ::fcntl(fd, F_SETFL, O_NONBLOCK);
            passed = Socket(fd);
        }
    }
    return passed;
}

}  // namespace

Result<std::pair<Socket, Socket>> MessageSocket::pair() { return pair_of(SOCK_SEQPACKET); }

Result<Socket> MessageSocket::adopt(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
        return system_error("the socket to the master", errno);
    if (type != SOCK_SEQPACKET)
        return Error(Errc::system, "the socket to the master is of another type");
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    return Socket(fd);
}

void MessageSocket::send_once(int fd, Bytes message) {
    static_cast<void>(::send(fd, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

Result<MessageSocket::Received> MessageSocket::try_receive(MutBytes into) {
    if (!socket_.is_open())
        return Error(Errc::closed, "the socket was closed by this side");
    alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
    iovec part{into.data(), into.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto receive = [&] {
        ssize_t count = 0;
        do {
            count = ::recvmsg(socket_.fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        } while (count < 0 && errno == EINTR);
        return count;
    };
    ssize_t count = receive();
    // A peer that ends without reading everything resets the connection; messages that it sent before can still be read.
    if (count < 0 && errno == ECONNRESET)
        count = receive();
    if (count < 0 && errno == EAGAIN) {
        socket_.set_blocked(Interest::readable);
        return Error(Errc::need_more, "");
    }
    if (count < 0)
        return failure_of(errno);
    Received received{static_cast<std::size_t>(count), take_passed(message)};
    if (count == 0)
        return Error(Errc::closed, "the other end is gone");
    return received;
}

Result<bool> MessageSocket::try_send(Bytes bytes, int passed) {
    if (!socket_.is_open())
        return Error(Errc::closed, "the socket was closed by this side");
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (passed >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(head), &passed, sizeof passed);
    }
    ssize_t count = 0;
    do {
        count = ::sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return true;
    // Too many descriptors under way is a full socket as well.
    if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS) {
        if (errno == EAGAIN)
            socket_.set_blocked(Interest::writable);
        return false;
    }
    return failure_of(errno);
}

Result<std::pair<Socket, Socket>> stream_pair() { return pair_of(SOCK_STREAM); }

std::unique_ptr<TcpStream> stream_of(Socket socket) {
    return std::make_unique<TcpStream>(std::move(socket), Endpoint{"127.0.0.1", 0});
}

}  // namespace live::io
