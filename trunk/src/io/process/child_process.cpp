#include "io/process/child_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/process/bound_child.hpp"

namespace live::io {

namespace {

// How often to check for the exit where the kernel cannot report it (before Linux 5.3, and under emulators).
constexpr auto kLookAgain = std::chrono::milliseconds(20);

// posix_spawn's two option objects, released on every way out.
struct SpawnOptions {
    SpawnOptions() {
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
    }
    ~SpawnOptions() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnOptions(const SpawnOptions&) = delete;
    SpawnOptions& operator=(const SpawnOptions&) = delete;

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
};

// In the child: no signal is blocked or ignored (the loop ignores SIGPIPE), and it has its own process group.
void set_signals_and_group(SpawnOptions& options) {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&options.attributes, &none);
    ::posix_spawnattr_setsigdefault(&options.attributes, &all);
    ::posix_spawnattr_setpgroup(&options.attributes, 0);
    ::posix_spawnattr_setflags(&options.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

// The environment of this process with the entries of `more`, which win. Borrows from both.
std::vector<char*> environment_with(const std::vector<std::string>& more) {
    std::vector<char*> all;
    for (const std::string& entry : more)
        all.push_back(const_cast<char*>(entry.c_str()));
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('=') + 1);
        if (std::ranges::none_of(more, [name](const std::string& one) { return one.starts_with(name); }))
            all.push_back(*entry);
    }
    all.push_back(nullptr);
    return all;
}

Socket open_pid(pid_t pid) {
    // PIDFD_NONBLOCK needs Linux 5.10; nothing is read from it anyway.
    return Socket(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

std::string ChildExit::text() const {
    return signal != 0 ? "was ended by signal " + std::to_string(signal) : "exited with " + std::to_string(code);
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::spawn(const ChildOptions& options) {
    if (options.arguments.empty() || options.arguments.front().empty())
        return Error(Errc::malformed, "a child process needs a program to run");
    std::vector<char*> arguments;
    for (const std::string& argument : options.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const std::string output = options.output_path.empty() ? "/dev/null" : options.output_path;
    const auto failure = [&options, &output](int error) {
        const Error why = system_error("starting " + options.arguments.front() + " with its output in " + output, error);
        if (error == ENOENT || error == ENOTDIR)
            return Error(Errc::not_found, why.sentence());
        return error == EACCES || error == EPERM ? Error(Errc::denied, why.sentence()) : why;
    };
    std::vector<char*> environment = environment_with(options.environment);
    pid_t pid = -1;
    if (options.ends_with_us) {
        const int error = start_bound_child(options, output.c_str(), arguments.data(), environment.data(), pid);
        if (error != 0)
            return failure(error);
        return std::make_unique<ChildProcess>(Private{}, pid, open_pid(pid));
    }

    SpawnOptions spawn;
    set_signals_and_group(spawn);
    constexpr mode_t kLogMode = 0644;
    ::posix_spawn_file_actions_addopen(&spawn.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!options.inherits_output) {
        ::posix_spawn_file_actions_addopen(&spawn.files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, kLogMode);
        if (options.error_path.empty())
            ::posix_spawn_file_actions_adddup2(&spawn.files, STDOUT_FILENO, STDERR_FILENO);
        else
            ::posix_spawn_file_actions_addopen(&spawn.files, STDERR_FILENO, options.error_path.c_str(),
                                               O_WRONLY | O_CREAT | O_APPEND, kLogMode);
    }
    // In this order: the folder's own handle may be kPassedHandle.
    if (options.folder >= 0)
        ::posix_spawn_file_actions_addfchdir_np(&spawn.files, options.folder);
    // Onto itself, dup2 clears the flag that would close it.
    if (options.passed >= 0)
        ::posix_spawn_file_actions_adddup2(&spawn.files, options.passed, kPassedHandle);

    const int error = ::posix_spawnp(&pid, options.program.empty() ? arguments[0] : options.program.c_str(), &spawn.files,
                                     &spawn.attributes, arguments.data(), environment.data());
    if (error != 0)
        return failure(error);
    return std::make_unique<ChildProcess>(Private{}, pid, open_pid(pid));
}

ChildProcess::~ChildProcess() {
    if (exit_.has_value() || reap() || is_detached_)
        return;
    send_signal(SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool ChildProcess::reap() {
    if (exit_.has_value())
        return true;
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno != ECHILD))
        return false;
    ChildExit outcome;
    // ECHILD: SIGCHLD is ignored in this process, so the kernel has kept no status. The child has exited; nothing more is known.
    if (ended > 0 && WIFSIGNALED(status))
        outcome.signal = WTERMSIG(status);
    else if (ended > 0)
        outcome.code = WEXITSTATUS(status);
    exit_ = outcome;
    return true;
}

Result<ChildExit> ChildProcess::wait(Deadline deadline) {
    while (!reap()) {
        if (pid_socket_.is_open()) {
            TRY(pid_socket_.wait_for(Interest::readable, deadline));
            continue;
        }
        if (deadline.expired())
            return Error(Errc::timed_out, "the child process " + std::to_string(pid_) + " still runs");
        TRY(sleep(deadline.sooner(Deadline::after(kLookAgain))));
    }
    return *exit_;
}

void ChildProcess::send_signal(int signal) {
    // Where posix_spawn returns before the child has created its group (under emulators), only the child itself exists.
    if (!exit_.has_value() && ::kill(-pid_, signal) < 0)
        ::kill(pid_, signal);
}

Result<ChildExit> ChildProcess::stop(Deadline deadline) {
    const CancelShield shield;
    if (!reap())
        send_signal(SIGTERM);
    auto ended = wait(deadline);
    if (ended.ok() || ended.error().code() != Errc::timed_out)
        return ended;
    send_signal(SIGKILL);
    return wait(Deadline::never());
}

}  // namespace live::io
