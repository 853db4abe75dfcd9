// MemoryFile: bytes in kernel pages that can be sent to many sockets without a copy for each. Worth it for data that many clients
// are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/uio.h>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::io {

class MemoryFile;
// Owned by the holder of the bytes and by everyone they are being sent to.
using MemoryFileRef = std::shared_ptr<const MemoryFile>;

class MemoryFile {
    struct Private {};  // only create() and copy_of() make one

public:
    // Errc::limit when no descriptor is left, Errc::system.
    static Result<std::shared_ptr<MemoryFile>> create();
    // Creates a sealed file with the parts one after the other. Errors as create() and append().
    static Result<MemoryFileRef> copy_of(std::span<const ::iovec> parts);
    MemoryFile(Private, int fd) : fd_(fd) {}
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    // Appends to the file. Earlier bytes do not change: they may be on their way to clients. Errc::system.
    Result<void> append(const ::iovec& part);
    // Ends appending: the kernel refuses further writes.
    void seal();

    std::uint64_t size() const { return size_; }
    int native_handle() const { return fd_; }

private:
    int fd_;
    std::uint64_t size_ = 0;
};

// Sends `head`, then `count` bytes of the file from `offset` on, which must exist; bytes of both may share a packet. The file
// must outlive the call. Errors as Stream::write_all.
Result<void> write_with_file(TcpStream& stream, Bytes head, const MemoryFile& file, std::uint64_t offset, std::size_t count,
                             Deadline deadline);

}  // namespace live::io
