#include "io/net/socket.hpp"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "io/fibers/loop_state.hpp"
#include "io/fibers/park.hpp"
#include "io/fibers/wait_until.hpp"

namespace live::io {

namespace {

std::uint32_t epoll_bits(Interest interest) {
    const auto bits = static_cast<std::uint8_t>(interest);
    std::uint32_t wanted = 0;
    if ((bits & static_cast<std::uint8_t>(Interest::readable)) != 0)
        wanted |= EPOLLIN;
    if ((bits & static_cast<std::uint8_t>(Interest::writable)) != 0)
        wanted |= EPOLLOUT;
    return wanted;
}

Error closed_error() { return {Errc::closed, "the socket was closed by this side"}; }

}  // namespace

Socket::Socket(int fd) : fd_(fd) {
    if (fd_ >= 0)
        CHECK(st::loop_state().engine.attach(fd_));
}

void Socket::close() {
    if (fd_ < 0)
        return;
    st::loop_state().engine.detach(fd_);
    ::close(std::exchange(fd_, -1));
}

Result<Ready> Socket::wait(Interest interest, Signal* signal, Deadline deadline) {
    TRY(st::breathe());
    if (fd_ < 0)
        return closed_error();
    st::Park park;
    st::ParkNode node;
    node.fd = fd_;
    node.wanted = epoll_bits(interest);
    if (signal != nullptr) {
        CHECK(!signal->has_waiter());
        if (signal->is_raised())
            park.kick();
        signal->set_waiter(&park);
        park.expect_kick();
    }
    // Without a direction the node is left out, and the descriptor is not added to epoll.
    const auto end = park.sleep({&node, node.wanted != 0 ? 1U : 0U}, st::due_of(deadline));
    const int error = errno;
    Ready ready;
    if (signal != nullptr) {
        signal->set_waiter(nullptr);
        ready.signalled = signal->consume();
    }
    if ((node.got & st::Engine::kClosed) != 0)
        return closed_error();
    if (end == st::Park::End::system)
        return system_error("waiting for a socket", error);
    if (end == st::Park::End::cancelled && !ready.signalled)
        return st::cancelled_error();
    ready.readable = (node.wanted & EPOLLIN) != 0 && (node.got & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
    ready.writable = (node.wanted & EPOLLOUT) != 0 && (node.got & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    ready.timed_out = end == st::Park::End::timed_out && !ready.signalled;
    return ready;
}

Result<void> Socket::wait_for(Interest interest, Deadline deadline) {
    const Ready ready = TRY(wait(interest, nullptr, deadline));
    if (ready.timed_out)
        return Error(Errc::timed_out, interest == Interest::readable ? "nothing came from the peer" : "the peer does not read");
    return {};
}

void Socket::coalesce_wakes() {
    if (fd_ >= 0)
        st::loop_state().engine.coalesce(fd_);
}

void Socket::forget() {
    if (fd_ >= 0)
        st::loop_state().engine.forget(fd_);
}

bool Socket::is_blocked(Interest direction) const { return st::loop_state().engine.is_blocked(fd_, epoll_bits(direction)); }

void Socket::set_blocked(Interest direction) { st::loop_state().engine.set_blocked(fd_, epoll_bits(direction)); }

Result<SocketAddress> SocketAddress::of(const Endpoint& endpoint) {
    SocketAddress address;
    sockaddr_in6 six{};
    sockaddr_in four{};
    if (::inet_pton(AF_INET6, endpoint.ip.c_str(), &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(endpoint.port);
        std::memcpy(&address.storage, &six, sizeof six);
        address.size = sizeof six;
    } else if (::inet_pton(AF_INET, endpoint.ip.c_str(), &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(endpoint.port);
        std::memcpy(&address.storage, &four, sizeof four);
        address.size = sizeof four;
    } else {
        return Error(Errc::malformed, "'" + endpoint.ip + "' is no IP address");
    }
    return address;
}

Endpoint SocketAddress::endpoint() const {
    char text[INET6_ADDRSTRLEN] = {};
    if (storage.ss_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &storage, sizeof four);
        return {::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text), ntohs(four.sin_port)};
    }
    if (storage.ss_family != AF_INET6)
        return {"0.0.0.0", 0};
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof six);
    constexpr std::size_t kMappedPrefix = 12;
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
        return {::inet_ntop(AF_INET, six.sin6_addr.s6_addr + kMappedPrefix, text, sizeof text), ntohs(six.sin6_port)};
    return {::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text), ntohs(six.sin6_port)};
}

Error bind_error(const Endpoint& on, int error) {
    Error failure = system_error("listening on " + on.text(), error);
    if (error == EADDRINUSE)
        return {Errc::conflict, failure.sentence()};
    if (error == EACCES || error == EPERM)
        return {Errc::denied, failure.sentence()};
    return failure;
}

Result<Socket> open_bound(const Endpoint& on, int type, PortSharing sharing) {
    if (const int inherited = st::take_inherited(on, type); inherited >= 0)
        return Socket(inherited);
    const int fd = ::socket(on.is_ipv6() ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return bind_error(on, errno);
    Socket socket(fd);
    const int on_flag = 1;
    // For UDP it would let two servers share a port.
    if (type == SOCK_STREAM)
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on_flag, sizeof on_flag);
    if (sharing == PortSharing::shared)
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on_flag, sizeof on_flag);
    if (on.is_ipv6())
        ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on_flag, sizeof on_flag);
    const SocketAddress address = TRY(SocketAddress::of(on));
    if (::bind(fd, address.data(), address.size) < 0)
        return bind_error(on, errno);
    return socket;
}

Result<Endpoint> bound_endpoint(const Socket& socket) {
    SocketAddress bound;
    if (::getsockname(socket.fd(), bound.data(), &bound.size) < 0)
        return system_error("asking for the address of a socket", errno);
    return bound.endpoint();
}

}  // namespace live::io
