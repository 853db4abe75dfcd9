#include "io/memory_file.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/st/loop_state.hpp"

namespace live::io {

namespace {

Error send_error(int error) {
    Error failure = system_error("writing to a connection", error);
    const bool has_gone = error == EPIPE || error == ECONNRESET || error == ETIMEDOUT || error == ENOTCONN;
    return has_gone ? Error(Errc::closed, failure.sentence()) : failure;
}

// Bytes taken; 0 when no more fit. `call` is one system call.
template <class Call>
Result<std::size_t> try_send(TcpStream& stream, const Call& call) {
    st::Engine& engine = st::loop_state().engine;
    if (!stream.is_open())
        return Error(Errc::closed, "the stream was closed by this side");
    if (engine.is_blocked(stream.native_handle(), EPOLLOUT))
        return std::size_t{0};
    ssize_t count = 0;
    do {
        count = call(stream.native_handle());
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return static_cast<std::size_t>(count);
    if (errno != EAGAIN)
        return send_error(errno);
    engine.set_blocked(stream.native_handle(), EPOLLOUT);
    return std::size_t{0};
}

Result<void> wait_writable(TcpStream& stream, Deadline deadline) {
    if (TRY(stream.wait_ready(Interest::writable, nullptr, deadline)).timed_out)
        return Error(Errc::timed_out, "the peer takes nothing");
    return {};
}

}  // namespace

Result<MemoryFileRef> MemoryFile::copy_of(std::span<const ::iovec> parts) {
    const int fd = ::memfd_create("live-sent", MFD_CLOEXEC);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? Error(Errc::limit, "no descriptor is left for a file in memory")
                                                  : system_error("memfd_create", errno);
    auto file = std::make_shared<MemoryFile>(Private{}, fd);
    for (const ::iovec& part : parts)
        TRY(file->append(part));
    return MemoryFileRef(std::move(file));
}

MemoryFile::~MemoryFile() { ::close(fd_); }

Result<void> MemoryFile::append(const ::iovec& part) {
    const auto* bytes = static_cast<const std::uint8_t*>(part.iov_base);
    for (std::size_t done = 0; done < part.iov_len;) {
        const ssize_t count = ::write(fd_, bytes + done, part.iov_len - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return system_error("writing to a file in memory", errno);
        done += static_cast<std::size_t>(count);
    }
    size_ += part.iov_len;
    return {};
}

Result<void> write_with_file(TcpStream& stream, Bytes head, const MemoryFile& file, std::uint64_t offset, std::size_t count,
                             Deadline deadline) {
    TRY(st::breathe());
    CHECK(offset <= file.size() && count <= file.size() - offset);
    // The kernel waits for the file's first bytes; without any, nothing more comes.
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (count > 0 ? MSG_MORE : 0);
    while (!head.empty()) {
        const std::size_t sent = TRY(try_send(stream, [&](int fd) { return ::send(fd, head.data(), head.size(), flags); }));
        head = head.subspan(sent);
        if (!head.empty() && sent == 0)
            TRY(wait_writable(stream, deadline));
    }
    auto from = static_cast<off_t>(offset);
    while (count > 0) {
        const std::size_t sent =
            TRY(try_send(stream, [&](int fd) { return ::sendfile(fd, file.native_handle(), &from, count); }));
        count -= sent;
        if (count > 0 && sent == 0)
            TRY(wait_writable(stream, deadline));
    }
    return {};
}

}  // namespace live::io
