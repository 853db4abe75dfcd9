#include "io/net/tcp_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

std::size_t bytes_of(std::span<const ::iovec> parts) {
    std::size_t sum = 0;
    for (const ::iovec& part : parts)
        sum += part.iov_len;
    return sum;
}

bool peer_has_gone(int error) { return error == EPIPE || error == ECONNRESET || error == ETIMEDOUT || error == ENOTCONN; }

Error io_error(const char* what, int error) {
    Error failure = system_error(what, error);
    return peer_has_gone(error) ? Error(Errc::closed, failure.sentence()) : failure;
}

template <class T>
Result<void> set_option(int fd, int level, int name, T value, const char* what) {
    if (::setsockopt(fd, level, name, &value, sizeof value) < 0)
        return system_error(what, errno);
    return {};
}

// A stream to another worker is no TCP, and has nothing to delay.
template <class T>
Result<void> set_tcp_option(int fd, int name, T value, const char* what) {
    if (::setsockopt(fd, IPPROTO_TCP, name, &value, sizeof value) < 0 && errno != EOPNOTSUPP)
        return system_error(what, errno);
    return {};
}

Error closed_here() { return {Errc::closed, "the stream was closed by this side"}; }

}  // namespace

Result<std::unique_ptr<TcpStream>> TcpStream::connect(const Endpoint& to, Deadline deadline, Signal* signal) {
    const int fd = ::socket(to.is_ipv6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0)
        return system_error("creating a socket to " + to.text(), errno);
    Socket socket(fd);
    const SocketAddress address = TRY(SocketAddress::of(to));
    int error = ::connect(fd, address.data(), address.size) < 0 ? errno : 0;
    if (error == EINPROGRESS || error == EINTR) {
        auto waited = socket.wait(Interest::writable, signal, deadline);
        if (waited.ok() && !waited->writable)
            waited = waited->timed_out ? Error(Errc::timed_out, "the peer does not answer")
                                       : Error(Errc::cancelled, "it is not wanted any more");
        if (!waited.ok())
            return std::move(waited).error().during("connecting to " + to.text());
        socklen_t size = sizeof error;
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0)
        return Error(error == ECONNREFUSED ? Errc::closed : Errc::system,
                     system_error("connecting to " + to.text(), error).sentence());
    return std::make_unique<TcpStream>(std::move(socket), to);
}

Result<std::size_t> TcpStream::try_peek(MutBytes into) {
    if (!socket_.is_open())
        return closed_here();
    const ssize_t count = ::recv(socket_.fd(), into.data(), into.size(), MSG_DONTWAIT | MSG_PEEK);
    if (count > 0)
        return static_cast<std::size_t>(count);
    if (count == 0)
        return Error(Errc::closed, "the peer has ended the connection");
    if (errno != EAGAIN && errno != EINTR)
        return io_error("reading from a connection", errno);
    return Error(Errc::need_more, "");
}

Result<std::size_t> TcpStream::try_read(MutBytes into) {
    if (!socket_.is_open())
        return closed_here();
    if (into.empty() || socket_.is_blocked(Interest::readable))
        return Error(Errc::need_more, "");
    ssize_t count = 0;
    do {
        count = ::recv(socket_.fd(), into.data(), into.size(), MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count == 0)
        return Error(Errc::closed, "the peer has ended the connection");
    if (count < 0) {
        if (errno != EAGAIN)
            return io_error("reading from a connection", errno);
        socket_.set_blocked(Interest::readable);
        return Error(Errc::need_more, "");
    }
    const auto got = static_cast<std::size_t>(count);
    if (got < into.size())
        socket_.set_blocked(Interest::readable);
    return got;
}

Result<std::uint8_t> TcpStream::peek(Deadline deadline) {
    TRY(st::breathe());
    for (;;) {
        if (!socket_.is_open())
            return closed_here();
        std::uint8_t first = 0;
        const ssize_t count = ::recv(socket_.fd(), &first, 1, MSG_DONTWAIT | MSG_PEEK);
        if (count == 1)
            return first;
        if (count == 0)
            return Error(Errc::closed, "the peer has ended the connection");
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return io_error("reading from a connection", errno);
        socket_.set_blocked(Interest::readable);
        TRY(socket_.wait_for(Interest::readable, deadline));
    }
}

// `call` makes one system call.
template <class Call>
Result<std::size_t> TcpStream::try_send(const Call& call) {
    if (!socket_.is_open())
        return closed_here();
    if (socket_.is_blocked(Interest::writable))
        return std::size_t{0};
    ssize_t count = 0;
    do {
        count = call(socket_.fd());
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return static_cast<std::size_t>(count);
    if (errno != EAGAIN)
        return io_error("writing to a connection", errno);
    socket_.set_blocked(Interest::writable);
    return std::size_t{0};
}

Result<std::size_t> TcpStream::try_write(std::span<const ::iovec> parts) {
    if (parts.empty())
        return is_open() ? Result<std::size_t>(0) : closed_here();
    parts = parts.first(std::min(parts.size(), kPartsMax));
    const std::size_t sent = TRY(try_send([&](int fd) {
        constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
        if (parts.size() == 1)
            return ::send(fd, parts[0].iov_base, parts[0].iov_len, kFlags);
        msghdr message{};
        message.msg_iov = const_cast<::iovec*>(parts.data());
        message.msg_iovlen = parts.size();
        return ::sendmsg(fd, &message, kFlags);
    }));
    if (sent < bytes_of(parts))
        socket_.set_blocked(Interest::writable);
    return sent;
}

Result<std::size_t> TcpStream::try_write_ahead(Bytes bytes) {
    return try_send([&](int fd) { return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE); });
}

Result<std::size_t> TcpStream::try_send_file(int file, std::uint64_t offset, std::size_t count) {
    auto from = static_cast<off_t>(offset);
    bool is_past_end = false;
    const std::size_t sent = TRY(try_send([&](int fd) {
        const ssize_t moved = ::sendfile(fd, file, &from, count);
        is_past_end = moved == 0;
        return moved;
    }));
    if (is_past_end)
        return Error(Errc::not_found, "the file ends before these bytes");
    return sent;
}

Result<std::size_t> TcpStream::read_some(MutBytes into, Deadline deadline) {
    TRY(st::breathe());
    for (;;) {
        auto got = try_read(into);
        if (got.ok() || got.error().code() != Errc::need_more)
            return got;
        TRY(socket_.wait_for(Interest::readable, deadline));
    }
}

Result<void> TcpStream::write_all(std::span<const ::iovec> parts, Deadline deadline) {
    TRY(st::breathe());
    std::size_t offset = 0;  // into parts.front()
    while (!parts.empty()) {
        std::size_t sent = 0;
        if (offset > 0) {
            // The rest of a partly sent part is sent by itself: the caller's parts must not be modified.
            const ::iovec rest{static_cast<std::uint8_t*>(parts.front().iov_base) + offset, parts.front().iov_len - offset};
            sent = TRY(try_write({&rest, 1}));
        } else {
            sent = TRY(try_write(parts));
        }
        const bool moved = sent > 0;
        while (!parts.empty() && sent >= parts.front().iov_len - offset) {
            sent -= parts.front().iov_len - offset;
            offset = 0;
            parts = parts.subspan(1);
        }
        offset += parts.empty() ? 0 : sent;
        if (!parts.empty() && !moved)
            TRY(socket_.wait_for(Interest::writable, deadline));
    }
    return {};
}

Result<void> TcpStream::wait_readable(Deadline deadline) { return socket_.wait_for(Interest::readable, deadline); }

Endpoint TcpStream::local_endpoint() const {
    SocketAddress address;
    if (!socket_.is_open() || ::getsockname(socket_.fd(), address.data(), &address.size) < 0)
        return {"0.0.0.0", 0};
    return address.endpoint();
}

Result<void> TcpStream::set_no_delay(bool on) {
    return set_tcp_option(socket_.fd(), TCP_NODELAY, on ? 1 : 0, "setting TCP_NODELAY");
}

bool TcpStream::no_delay() const {
    int on = 0;
    socklen_t size = sizeof on;
    ::getsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, &size);
    return on != 0;
}

Result<void> TcpStream::set_send_buffer(std::size_t bytes) {
    return set_option(socket_.fd(), SOL_SOCKET, SO_SNDBUF, static_cast<int>(std::min<std::size_t>(bytes, 1 << 30)),
                      "setting SO_SNDBUF");
}

std::size_t TcpStream::receive_buffer() const {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    ::getsockopt(socket_.fd(), SOL_SOCKET, SO_RCVBUF, &bytes, &size);
    return static_cast<std::size_t>(bytes);
}

Result<void> TcpStream::set_not_sent_lowat(std::size_t bytes) {
    return set_tcp_option(socket_.fd(), TCP_NOTSENT_LOWAT, static_cast<unsigned>(std::min<std::size_t>(bytes, 1 << 30)),
                          "setting TCP_NOTSENT_LOWAT");
}

Result<void> TcpStream::shutdown_write() {
    if (::shutdown(socket_.fd(), SHUT_WR) < 0)
        return system_error("shutting a connection down", errno);
    return {};
}

}  // namespace live::io
