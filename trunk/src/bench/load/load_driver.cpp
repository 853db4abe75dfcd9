#include "bench/load/load_driver.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"

namespace live::bench {
namespace {

// Commands are shorter.
constexpr std::size_t kWordBytesMax = 4096;

void write_line(const std::string& text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
    static_cast<void>(std::fputc('\n', stdout));
    std::fflush(stdout);
}

// Returns standard input as a non-blocking descriptor; negative without one.
int open_input() {
    const int fd = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fd;
}

}  // namespace

void LoadDriver::run(io::Deadline deadline) {
    input_ = io::Socket(open_input());
    for (;;) {
        const auto next = deadline.sooner(io::Deadline::at(io::now() + kTick));
        if (input_.is_open()) {
            const auto waited = input_.wait(io::Interest::readable, nullptr, next);
            if (!waited.ok() && waited.code() == Errc::cancelled)
                return;
            // A file or /dev/null cannot be polled: it is read at once.
            if (!waited.ok() || waited->readable)
                take_words();
        } else if (!io::sleep(next).ok()) {
            return;
        }
        window_.tick(io::now());
        if (!is_ready_ && window_.is_ready()) {
            is_ready_ = true;
            window_.mark(io::now(), wall_clock());
            write_line(window_.line("ready", io::now()));
        }
    }
}

void LoadDriver::finish() { write_line(window_.line("final", io::now())); }

void LoadDriver::take_words() {
    std::array<char, 256> block;
    const ssize_t count = ::read(input_.fd(), block.data(), block.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        input_.set_blocked(io::Interest::readable);
        return;
    }
    if (count > 0)
        pending_.append(block.data(), static_cast<std::size_t>(count));
    if (count <= 0 || pending_.size() > kWordBytesMax) {
        input_.close();
        stop_.raise();
    }
    for (std::size_t end = 0; (end = pending_.find('\n')) != std::string::npos; pending_.erase(0, end + 1))
        on_word(std::string_view(pending_).substr(0, end));
}

void LoadDriver::on_word(std::string_view word) {
    if (word == "mark")
        window_.mark(io::now(), wall_clock());
    else if (word == "report")
        write_line(window_.line("report", io::now()));
    else if (word == "quit")
        stop_.raise();
}

}  // namespace live::bench
