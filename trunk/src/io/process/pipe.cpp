#include "io/process/pipe.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"

namespace live::io {

namespace {

struct Ends {
    int to_read = -1;
    int to_write = -1;
};

// The child's end blocks, as programs expect.
Result<Ends> open_ends(std::size_t bytes, bool child_writes) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return system_error("opening a pipe", errno);
    const int ours = child_writes ? ends[0] : ends[1];
    static_cast<void>(::fcntl(ours, F_SETPIPE_SZ, static_cast<int>(bytes)));
    if (::fcntl(ours, F_SETFL, O_NONBLOCK) != 0) {
        const Error failure = system_error("opening a pipe", errno);
        ::close(ends[0]);
        ::close(ends[1]);
        return failure;
    }
    return Ends{ends[0], ends[1]};
}

Error closed_pipe() { return Error(Errc::closed, "the child has closed its end of the pipe"); }

}  // namespace

void ChildEnd::close() {
    if (fd_ >= 0)
        ::close(std::exchange(fd_, -1));
}

Result<std::size_t> PipeReader::read_some(MutBytes into, Deadline deadline) {
    if (is_turn_over())
        TRY(yield(deadline));
    for (;;) {
        if (!socket_.is_open())
            return closed_pipe();
        const ssize_t count = ::read(socket_.fd(), into.data(), into.size());
        if (count > 0)
            return static_cast<std::size_t>(count);
        if (count == 0)
            return closed_pipe();
        if (errno != EAGAIN && errno != EINTR)
            return system_error("reading a pipe", errno);
        if (errno == EINTR)
            continue;
        socket_.set_blocked(Interest::readable);
        TRY(socket_.wait_for(Interest::readable, deadline));
    }
}

Result<void> PipeWriter::write_all(Bytes bytes, Deadline deadline) {
    if (is_turn_over())
        TRY(yield(deadline));
    while (!bytes.empty()) {
        if (!socket_.is_open())
            return closed_pipe();
        const ssize_t count = ::write(socket_.fd(), bytes.data(), bytes.size());
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            continue;
        }
        if (errno == EPIPE)
            return closed_pipe();
        if (errno != EAGAIN && errno != EINTR)
            return system_error("writing a pipe", errno);
        if (errno == EINTR)
            continue;
        socket_.set_blocked(Interest::writable);
        TRY(socket_.wait_for(Interest::writable, deadline));
    }
    return {};
}

Result<std::pair<PipeReader, ChildEnd>> open_pipe_from_child(std::size_t bytes) {
    const Ends ends = TRY(open_ends(bytes, true));
    return std::pair(PipeReader(Socket(ends.to_read)), ChildEnd(ends.to_write));
}

Result<std::pair<PipeWriter, ChildEnd>> open_pipe_to_child(std::size_t bytes) {
    const Ends ends = TRY(open_ends(bytes, false));
    return std::pair(PipeWriter(Socket(ends.to_write)), ChildEnd(ends.to_read));
}

}  // namespace live::io
