// ExecOptions: the programs of one virtual host's streams, as plain values with defaults.
#pragma once

#include <string>
#include <vector>

namespace live::service::exec {

struct ExecOptions {
    bool enabled = false;
    // Each is one command with its arguments; started when a stream is published, stopped when it ends.
    std::vector<std::vector<std::string>> publish;
    // Ours.
    bool restart = false;
};

}  // namespace live::service::exec
