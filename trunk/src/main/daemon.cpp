#include "main/daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace live::main_ {

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

}  // namespace

std::string daemon_hint(std::string_view log_file) {
    return fmt::format("Follow the log:  tail -n 30 -f {}\nAsk for status:  ./etc/init.d/srs status\n", log_file);
}

Result<DaemonSide> detach_from_terminal() {
    const pid_t middle = ::fork();
    if (middle < 0)
        return system_error("cannot fork", errno);
    if (middle > 0) {
        // The middle process ends as soon as the daemon exists.
        int status = 0;
        while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            return Error(Errc::system, "cannot fork a second time");
        return DaemonSide::parent;
    }
    // A session of its own; its leader ends at once, so that the daemon can never get a terminal.
    ::setsid();
    const pid_t last = ::fork();
    if (last != 0)
        ::_exit(last < 0 ? 1 : 0);
    TRY(close_standard_streams());
    return DaemonSide::daemon;
}

}  // namespace live::main_
