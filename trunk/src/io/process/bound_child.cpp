#include "io/process/bound_child.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/process/child_options.hpp"

namespace live::io {

namespace {

// The child's view of ChildOptions: no call below may allocate, because the child shares the memory of this process.
struct Plan {
    const char* program;
    const char* output;
    const char* error_output;  // nullptr: as `output`
    char** arguments;
    char** environment;
    int input;
    int errors;
    const int* handles;
    int handle_count;
    pid_t parent;
};

// Above every target, so that no dup2 closes a descriptor that is still needed.
int lift(int descriptor, int above) { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, above); }

constexpr int kHandlesMax = 64;

int place_descriptors(const Plan& plan) {
    constexpr int kOutputMode = 0644;
    const int above = kPassedHandle + plan.handle_count;
    int lifted[kHandlesMax];
    if (plan.handle_count > kHandlesMax)
        return E2BIG;
    const int input = plan.input >= 0 ? lift(plan.input, above) : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int output = ::open(plan.output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOutputMode);
    if (output < 0 || input < 0)
        return errno;
    const int high_output = lift(output, above);
    int errors = plan.errors >= 0 ? plan.errors : output;
    if (plan.errors < 0 && plan.error_output != nullptr)
        errors = ::open(plan.error_output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOutputMode);
    if (errors < 0)
        return errno;
    errors = lift(errors, above);
    for (int i = 0; i < plan.handle_count; ++i)
        lifted[i] = lift(plan.handles[i], above);
    if (::dup2(input, STDIN_FILENO) < 0 || ::dup2(high_output, STDOUT_FILENO) < 0 || ::dup2(errors, STDERR_FILENO) < 0)
        return errno;
    for (int i = 0; i < plan.handle_count; ++i)
        if (::dup2(lifted[i], kPassedHandle + i) < 0)
            return errno;
    // Linux 5.9; before that, O_CLOEXEC on each descriptor closes them.
    constexpr unsigned kCloseOnExec = 1U << 2;
    static_cast<void>(::syscall(SYS_close_range, static_cast<unsigned>(above), ~0U, kCloseOnExec));
    return 0;
}

// Runs in the child. Returns only if it fails, with errno.
int become(const Plan& plan) {
    struct sigaction as_usual {};
    as_usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal)
        ::sigaction(signal, &as_usual, nullptr);
    if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return errno;
    if (::getppid() != plan.parent)
        return ESRCH;
    if (const int error = place_descriptors(plan); error != 0)
        return error;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvpe(plan.program, plan.arguments, plan.environment);
    return errno;
}

}  // namespace

int start_bound_child(const ChildOptions& options, const char* output, char** arguments, char** environment, pid_t& pid) {
    const Plan plan{options.program.empty() ? arguments[0] : options.program.c_str(),
                    output,
                    options.error_path.empty() ? nullptr : options.error_path.c_str(),
                    arguments,
                    environment,
                    options.input,
                    options.errors,
                    options.handles.data(),
                    static_cast<int>(options.handles.size()),
                    ::getpid()};
    // Carries errno of a child that could not start; closed by a successful exec. A vfork that copies memory, as in valgrind, has
    // no other way, and returns before the exec.
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0)
        return errno;
    const int end_of_child = lift(report[1], kPassedHandle + kHandlesMax);
    ::close(report[1]);
    if (end_of_child < 0) {
        ::close(report[0]);
        return EMFILE;
    }
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    // A handler of this process must not run in the child.
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = ::vfork();
    if (child == 0) {
        const int failure = become(plan);
        static_cast<void>(!::write(end_of_child, &failure, sizeof failure));
        ::_exit(127);
    }
    int error = child < 0 ? errno : 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(end_of_child);
    int failure = 0;
    if (child > 0 && ::read(report[0], &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure))
        error = failure;
    ::close(report[0]);
    if (child > 0 && error != 0)
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    pid = child;
    return error;
}

}  // namespace live::io
