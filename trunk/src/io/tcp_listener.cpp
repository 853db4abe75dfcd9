#include "io/tcp_listener.hpp"

#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/loop.hpp"
#include "io/st/loop_state.hpp"

namespace live::io {

namespace {

constexpr auto kBackOff = std::chrono::milliseconds(20);

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

Error bind_error(const Endpoint& on, int error) {
    Error failure = system_error("listening on " + on.text(), error);
    if (error == EADDRINUSE)
        return {Errc::conflict, failure.sentence()};
    if (error == EACCES || error == EPERM)
        return {Errc::denied, failure.sentence()};
    return failure;
}

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

// The listener itself is of no use any more; everything else concerns one connection only (accept(2): "network errors already
// pending on the new socket").
bool is_fatal(int error) {
    return error == EBADF || error == EINVAL || error == ENOTSOCK || error == EFAULT || error == EOPNOTSUPP;
}

}  // namespace

Result<std::unique_ptr<TcpListener>> TcpListener::listen(const Endpoint& on, int backlog) {
    const int fd = ::socket(on.is_ipv6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0)
        return bind_error(on, errno);
    Socket socket(fd);
    const int on_flag = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on_flag, sizeof on_flag);
    if (on.is_ipv6())
        ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on_flag, sizeof on_flag);
    const SocketAddress address = TRY(SocketAddress::of(on));
    if (::bind(fd, address.data(), address.size) < 0 || ::listen(fd, backlog) < 0)
        return bind_error(on, errno);
    SocketAddress bound;
    if (::getsockname(fd, bound.data(), &bound.size) < 0)
        return bind_error(on, errno);
    return std::make_unique<TcpListener>(std::move(socket), Socket(open_spare()), bound.endpoint());
}

Result<std::unique_ptr<TcpStream>> TcpListener::accept(Deadline deadline) {
    for (;;) {
        TRY(st::breathe());
        if (!socket_.is_open())
            return Error(Errc::closed, "the listener was closed");
        SocketAddress peer;
        const int fd = ::accept4(socket_.fd(), peer.data(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            return std::make_unique<TcpStream>(Socket(fd), peer.endpoint());
        const int error = errno;
        if (error == EAGAIN) {
            socket_.set_blocked(Interest::readable);
            TRY(socket_.wait_for(Interest::readable, deadline));
        } else if (out_of_descriptors(error)) {
            if (deadline.expired())
                return Error(Errc::timed_out, "no descriptor left for a new connection");
            if (!refuse_one())
                TRY(sleep(deadline.sooner(Deadline::after(kBackOff))));
        } else if (is_fatal(error)) {
            return system_error("accepting on " + endpoint_.text(), error);
        }
    }
}

// Gives the spare descriptor up for one connection, only to close it: better than a peer that waits for nothing.
bool TcpListener::refuse_one() {
    if (!spare_.is_open()) {
        spare_ = Socket(open_spare());
        return false;
    }
    spare_.close();
    const int fd = ::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    const bool refused = fd >= 0;
    if (refused) {
        ++refused_;
        ::close(fd);
    }
    spare_ = Socket(open_spare());
    return refused;
}

void TcpListener::close() {
    socket_.close();
    spare_.close();
}

}  // namespace live::io
