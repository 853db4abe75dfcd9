#include "io/files/memory_file.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

Result<void> wait_writable(TcpStream& stream, Deadline deadline) {
    if (TRY(stream.wait_ready(Interest::writable, nullptr, deadline)).timed_out)
        return Error(Errc::timed_out, "the peer does not read");
    return {};
}

}  // namespace

// Its owners are its writer and every connection that sends it.
Result<std::shared_ptr<MemoryFile>> MemoryFile::create() {
    const int fd = ::memfd_create("live-sent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? Error(Errc::limit, "no descriptor is left for a file in memory")
                                                  : system_error("memfd_create", errno);
    return std::make_shared<MemoryFile>(Private{}, fd);
}

Result<MemoryFileRef> MemoryFile::copy_of(std::span<const ::iovec> parts) {
    auto file = TRY(create());
    for (const ::iovec& part : parts)
        TRY(file->append(part));
    file->seal();
    return MemoryFileRef(std::move(file));
}

void MemoryFile::seal() {
    static_cast<void>(::fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL));
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
    while (!head.empty()) {
        // With MSG_MORE the kernel waits for the file's first bytes; with an empty file nothing follows.
        const std::array whole{as_part(head)};
        const std::size_t sent = TRY(count > 0 ? stream.try_write_ahead(head) : stream.try_write(whole));
        head = head.subspan(sent);
        if (sent == 0)
            TRY(wait_writable(stream, deadline));
    }
    while (count > 0) {
        const std::size_t sent = TRY(stream.try_send_file(file.native_handle(), offset, count));
        offset += sent;
        count -= sent;
        if (sent == 0)
            TRY(wait_writable(stream, deadline));
    }
    return {};
}

}  // namespace live::io
