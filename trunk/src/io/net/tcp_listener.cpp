#include "io/net/tcp_listener.hpp"

#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

constexpr auto kBackOff = std::chrono::milliseconds(20);

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

// The listener itself is unusable; every other error concerns one connection only (accept(2): "network errors already pending on
// the new socket").
bool is_fatal(int error) {
    return error == EBADF || error == EINVAL || error == ENOTSOCK || error == EFAULT || error == EOPNOTSUPP;
}

}  // namespace

Result<std::unique_ptr<TcpListener>> TcpListener::listen(const Endpoint& on, PortSharing sharing) {
    Socket socket = TRY(open_bound(on, SOCK_STREAM, sharing));
    if (::listen(socket.fd(), kBacklog) < 0)
        return bind_error(on, errno);
    const Endpoint bound = TRY(bound_endpoint(socket));
    return std::make_unique<TcpListener>(std::move(socket), Socket(open_spare()), bound);
}

Result<std::unique_ptr<TcpStream>> TcpListener::accept(Deadline deadline) {
    for (;;) {
        TRY(st::breathe());
        TRY(st::wait_while_held(deadline));
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

// Gives up the spare descriptor to accept and close one connection: better than leaving the peer waiting for nothing.
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
