// Going to the background: a double fork, so that the process has no terminal and can get none. The process that was started
// waits until the daemon serves or has failed, so that its status and what it says are the truth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::app {

// The daemon's way to tell the process that waits for it. What is never told is told by its end: a daemon that crashed.
class StartReport {
public:
    // Nobody waits.
    StartReport() = default;
    explicit StartReport(int pipe) : pipe_(pipe) {}
    StartReport(StartReport&& other) noexcept;
    StartReport& operator=(StartReport&& other) noexcept;
    ~StartReport();

    bool is_awaited() const { return pipe_ >= 0; }
    // Once one of them; nothing when nobody waits.
    void report_success() { tell(0, {}); }
    void report_failure(int status, std::string_view sentence) { tell(status, sentence); }

private:
    void tell(int status, std::string_view sentence);
    void close();

    int pipe_ = -1;
};

struct Detached {
    enum class Side : std::uint8_t {
        parent,  // end the process with `status`
        daemon,  // go on; stdin, stdout and stderr are /dev/null
    };
    Side side = Side::parent;
    // The parent's: the daemon's status at its end, 0 when it serves, and why it does not.
    int status = 0;
    std::string sentence;
    // The daemon's.
    StartReport report;
};

// The two lines that a person sees before the process is gone: how to follow the log, and how to ask the init script.
std::string daemon_hint(std::string_view log_file);

// Call it before any thread, fiber, lock or listener exists. Returns in both processes, in the parent when the daemon has told.
Result<Detached> detach_from_terminal();

}  // namespace live::app
