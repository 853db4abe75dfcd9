#include "io/process/signal_pipe.hpp"

#include <cerrno>
#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace live::io {

Result<std::unique_ptr<SignalPipe>> SignalPipe::create(std::span<const int> signals) {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : signals)
        ::sigaddset(&set, signal);
    if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0)
        return system_error("blocking signals", error);
    const int fd = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return system_error("creating the signal descriptor", errno);
    return std::make_unique<SignalPipe>(Private{}, Socket(fd));
}

Result<int> SignalPipe::next_signal(Deadline deadline) {
    for (;;) {
        signalfd_siginfo info{};
        const ssize_t count = ::read(socket_.fd(), &info, sizeof info);
        if (count == static_cast<ssize_t>(sizeof info))
            return static_cast<int>(info.ssi_signo);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return system_error("reading the signal descriptor", errno);
        socket_.set_blocked(Interest::readable);
        TRY(socket_.wait_for(Interest::readable, deadline));
    }
}

}  // namespace live::io
