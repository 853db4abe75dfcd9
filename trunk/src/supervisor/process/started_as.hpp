// StartedAs: how this process was started, for the processes that it starts itself.
#pragma once

#include <string>
#include <vector>

namespace live::supervisor {

struct StartedAs {
    std::vector<std::string> arguments;
    int folder = -1;  // an open descriptor of the working folder; negative: unknown
};
// Call before anything changes the folder.
StartedAs started_as();

}  // namespace live::supervisor
