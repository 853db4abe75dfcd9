// InheritedResources: what a new program receives from the running one before it starts to serve.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/workers/message.hpp"
#include "io/net/socket.hpp"
#include "io/process/inheritance.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::supervisor {

// The sockets of each worker, by its number less one.
using WorkersSockets = std::vector<std::vector<io::BoundSocket>>;

struct InheritedResources {
    // The new process's number; of a master: the number before its first worker's.
    engine::workers::Worker number = 0;
    std::size_t workers = 1;
    bool parent_stays = false;
    std::string pid_path{};
    int pid_file = -1;  // an open descriptor that the caller owns; negative: none
    WorkersSockets sockets{};
    io::Socket parent{};  // of a master: a line to the process that stays
};

// Receives until `begin`. Sockets of a process without workers go to the loop (io::inherit). Errc::timed_out, Errc::closed when
// the other process is gone.
Result<InheritedResources> receive_inherited(MasterLine& from, io::Deadline deadline);

// Names of the passed descriptors that are not sockets to inherit; the pid file's path follows its name.
inline constexpr std::string_view kPidGift = "pid ";
inline constexpr std::string_view kParentGift = "parent";

}  // namespace live::supervisor
