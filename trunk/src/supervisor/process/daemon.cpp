#include "supervisor/process/daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace live::supervisor {

namespace {

Result<void> close_standard_streams() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return system_error("cannot open /dev/null", errno);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(null, stream);
    if (null > STDERR_FILENO)
        ::close(null);
    return {};
}

// Until the daemon has reported, or has ended without a report.
Detached wait_for_daemon(int pipe) {
    std::string report;
    std::array<char, 512> part{};
    for (;;) {
        const ssize_t count = ::read(pipe, part.data(), part.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        report.append(part.data(), static_cast<std::size_t>(count));
    }
    Detached detached;
    detached.status = report.empty() ? EXIT_FAILURE : static_cast<unsigned char>(report.front());
    detached.sentence = report.empty() ? "the server died while it started" : report.substr(1);
    return detached;
}

}  // namespace

std::string daemon_hint(std::string_view log_file) {
    return fmt::format("Follow the log:  tail -n 30 -f {}\nAsk for status:  ./etc/init.d/srs status\n", log_file);
}

StartReport::StartReport(StartReport&& other) noexcept : pipe_(std::exchange(other.pipe_, -1)) {}

StartReport& StartReport::operator=(StartReport&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    return *this;
}

StartReport::~StartReport() { close(); }

void StartReport::close() {
    if (pipe_ >= 0)
        ::close(std::exchange(pipe_, -1));
}

// A byte with the status, then the sentence, then the end. The waiting process may be gone.
void StartReport::tell(int status, std::string_view sentence) {
    if (pipe_ < 0)
        return;
    std::signal(SIGPIPE, SIG_IGN);
    std::string text(1, static_cast<char>(status));
    text += sentence;
    for (std::string_view rest = text; !rest.empty();) {
        const ssize_t count = ::write(pipe_, rest.data(), rest.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        rest.remove_prefix(static_cast<std::size_t>(count));
    }
    close();
}

Result<Detached> detach_from_terminal() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return system_error("cannot make a pipe", errno);
    const pid_t middle = ::fork();
    if (middle < 0) {
        const int reason = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        return system_error("cannot fork", reason);
    }
    if (middle > 0) {
        ::close(ends[1]);
        // The intermediate process ends as soon as the daemon exists.
        int status = 0;
        while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
        }
        auto detached = wait_for_daemon(ends[0]);
        ::close(ends[0]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            return Error(Errc::system, "cannot fork a second time");
        return detached;
    }
    ::close(ends[0]);
    // A new session; its leader exits at once, so that the daemon can never acquire a terminal.
    ::setsid();
    const pid_t last = ::fork();
    if (last != 0)
        ::_exit(last < 0 ? 1 : 0);
    Detached detached;
    detached.side = Detached::Side::daemon;
    detached.report = StartReport(ends[1]);
    if (const auto closed = close_standard_streams(); !closed.ok()) {
        detached.report.report_failure(EXIT_FAILURE, closed.error().sentence());
        return Error(closed.error());
    }
    return detached;
}

}  // namespace live::supervisor
