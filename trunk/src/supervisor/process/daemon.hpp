// Daemonizes by a double fork, so that the process has no terminal and can never acquire one. The original process waits until
// the daemon is serving or has failed, so that its exit status and output are accurate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::supervisor {

// How the daemon reports to the waiting process. If the daemon ends without a report, it has crashed.
class StartReport {
public:
    // No process is waiting.
    StartReport() = default;
    explicit StartReport(int pipe) : pipe_(pipe) {}
    StartReport(StartReport&& other) noexcept;
    StartReport& operator=(StartReport&& other) noexcept;
    ~StartReport();

    bool is_awaited() const { return pipe_ >= 0; }
    // Call one of them once; no effect when no process is waiting.
    void report_success() { tell(0, {}); }
    void report_failure(int status, std::string_view sentence) { tell(status, sentence); }

private:
    void tell(int status, std::string_view sentence);
    void close();

    int pipe_ = -1;
};

struct Detached {
    enum class Side : std::uint8_t {
        parent,  // exit with `status`
        daemon,  // continue; stdin, stdout and stderr are /dev/null
    };
    Side side = Side::parent;
    // In the parent: its exit status, which is 0 once the daemon is serving, and the reason if it is not.
    int status = 0;
    std::string sentence;
    // In the daemon.
    StartReport report;
};

// The two lines shown before the process exits: how to follow the log, and how to query the init script.
std::string daemon_hint(std::string_view log_file);

// To be called before any thread, fiber, lock or listener exists. Returns in both processes; in the parent after the daemon has
// reported.
Result<Detached> detach_from_terminal();

}  // namespace live::supervisor
