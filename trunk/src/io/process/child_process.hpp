// One child process, started from an argument list (never through a shell), with its output in a file. It leads a process group
// of its own, so stopping it also stops everything it started.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"
#include "io/net/socket.hpp"
#include "io/process/child_options.hpp"

namespace live::io {

struct ChildExit {
    int code = 0;    // as passed to exit(); 0 when it was ended by a signal
    int signal = 0;  // 0 when it exited by itself
    bool success() const { return code == 0 && signal == 0; }
    // "exited with 1", "was ended by signal 9".
    std::string text() const;
};

class ChildProcess {
    struct Private {};

public:
    // Errc::not_found when the program does not exist, Errc::denied, Errc::system.
    static Result<std::unique_ptr<ChildProcess>> spawn(const ChildOptions& options);
    ChildProcess(Private, pid_t pid, Socket pid_socket) : pid_(pid), pid_socket_(std::move(pid_socket)) {}
    // Kills it if it still runs, unless detach() was called; blocks briefly.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    pid_t pid() const { return pid_; }
    // Reports whether the process has exited, without waiting.
    bool has_ended() { return reap(); }
    // Waits until it exits; returns at once if it already has. Errc::timed_out, Errc::cancelled.
    Result<ChildExit> wait(Deadline deadline);
    // Sends a signal to the whole group; does nothing after it has exited.
    void send_signal(int signal);
    // The child continues after this object is destroyed.
    void detach() { is_detached_ = true; }
    // Sends SIGTERM, then SIGKILL when the deadline passes. A cancel does not cut the wait short.
    Result<ChildExit> stop(Deadline deadline);

private:
    bool reap();

    pid_t pid_;
    Socket pid_socket_;  // closed where the kernel has no pidfd_open
    std::optional<ChildExit> exit_;
    bool is_detached_ = false;
};

}  // namespace live::io
