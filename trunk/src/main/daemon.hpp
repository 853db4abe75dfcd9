// Going to the background: a double fork, so that the process has no terminal and can get none, and its parent returns at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::main_ {

enum class DaemonSide : std::uint8_t {
    parent,  // end the process with status 0 now
    daemon,  // go on; stdin, stdout and stderr are /dev/null
};

// The two lines that a person sees before the process is gone: how to follow the log, and how to ask the init script.
std::string daemon_hint(std::string_view log_file);

// Call it before any thread, fiber, lock or listener exists. Returns in both processes; the parent returns once its child is
// detached.
Result<DaemonSide> detach_from_terminal();

}  // namespace live::main_
