// One child process, started from an argument list (never through a shell), with its output in a file. It leads a process group
// of its own, so that stopping it stops what it has started as well.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"
#include "io/socket.hpp"

namespace live::io {

struct ChildOptions {
    // The program and its arguments. Without a slash the program is looked up in PATH.
    std::vector<std::string> arguments;
    // Standard output and error are appended here; empty: thrown away. Standard input is empty.
    std::string output_path;
};

struct ChildExit {
    int code = 0;    // as given to exit(); 0 when a signal ended it
    int signal = 0;  // 0 when it ended by itself
    bool success() const { return code == 0 && signal == 0; }
    // "exited with 1", "was ended by signal 9".
    std::string text() const;
};

class ChildProcess {
    struct Private {};

public:
    // Errc::not_found when there is no such program, Errc::denied, Errc::system.
    static Result<std::unique_ptr<ChildProcess>> spawn(const ChildOptions& options);
    ChildProcess(Private, pid_t pid, Socket pid_socket) : pid_(pid), pid_socket_(std::move(pid_socket)) {}
    // Kills what still runs; blocks for the moment that takes.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    pid_t pid() const { return pid_; }
    // Until it ends; at once when it has ended before. Errc::timed_out, Errc::cancelled.
    Result<ChildExit> wait(Deadline deadline);
    // Sends a signal to its whole group; nothing when it has ended.
    void send_signal(int signal);
    // Asks it to end (SIGTERM), and kills it when the deadline passes. A cancel does not cut the wait short.
    Result<ChildExit> stop(Deadline deadline);

private:
    bool reap();

    pid_t pid_;
    Socket pid_socket_;  // closed where the kernel has no pidfd_open
    std::optional<ChildExit> exit_;
};

}  // namespace live::io
