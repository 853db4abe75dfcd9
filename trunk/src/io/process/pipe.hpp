// A pipe between this process and a child: our end is on the loop, the child's end is passed by ChildOptions and closed after the
// start, so that both sides see the end of the other.
#pragma once

#include <cstddef>
#include <utility>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::io {

// The end of a pipe that the child gets. Closed on exec in every other child.
class ChildEnd {
public:
    ChildEnd() = default;
    explicit ChildEnd(int fd) : fd_(fd) {}
    ChildEnd(ChildEnd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    ChildEnd& operator=(ChildEnd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~ChildEnd() { close(); }

    int fd() const { return fd_; }
    void close();

private:
    int fd_ = -1;
};

// Our end of a pipe that the child writes.
class PipeReader {
public:
    PipeReader() = default;
    explicit PipeReader(Socket socket) : socket_(std::move(socket)) {}

    // Waits for at least one byte. Errc::closed when the child has closed its end or has ended, Errc::timed_out, Errc::cancelled.
    Result<std::size_t> read_some(MutBytes into, Deadline deadline);
    void close() { socket_.close(); }

private:
    Socket socket_;
};

// Our end of a pipe that the child reads.
class PipeWriter {
public:
    PipeWriter() = default;
    explicit PipeWriter(Socket socket) : socket_(std::move(socket)) {}

    // Waits until the pipe has taken all. Errors as read_some().
    Result<void> write_all(Bytes bytes, Deadline deadline);
    void close() { socket_.close(); }

private:
    Socket socket_;
};

// Both ends of a pipe that the child writes, or reads. `bytes` is its capacity, as far as the system permits.
Result<std::pair<PipeReader, ChildEnd>> open_pipe_from_child(std::size_t bytes);
Result<std::pair<PipeWriter, ChildEnd>> open_pipe_to_child(std::size_t bytes);

}  // namespace live::io
