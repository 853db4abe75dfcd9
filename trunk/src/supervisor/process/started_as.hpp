// StartedAs: how this process was started, for the processes that it starts itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/process/child_process.hpp"

namespace live::supervisor {

struct StartedAs {
    std::vector<std::string> arguments;
    int folder = -1;  // an open descriptor of the working folder; negative: unknown
};
// Call before anything changes the folder.
StartedAs started_as();

// Returns the options of a process that starts the same way, with the output of this one. Errc::system when the command line is
// unknown.
Result<io::ChildOptions> child_options(const StartedAs& started);

}  // namespace live::supervisor
