// The environment variables by which a process starts its workers and the program that replaces it.
#pragma once

#include <string>
#include <string_view>

#include "base/config/environment.hpp"
#include "engine/workers/worker_identity.hpp"

namespace live::supervisor {

// "2/3/5/secret": the second of three workers, with id 5.
inline constexpr std::string_view kWorkerVariable = "MILLRACE_WORKER";
// "1/secret": the new program of an upgrade; the number is the version of the messages (engine/workers/message.hpp).
inline constexpr std::string_view kSuccessorVariable = "MILLRACE_HEIR";

// Entries "NAME=value" for a new process.
std::string worker_variable(const engine::workers::WorkerIdentity& identity, std::string_view secret);
std::string successor_variable(std::string_view secret);

struct StartedBy {
    // A master started this process as that worker.
    engine::workers::WorkerIdentity identity{};
    // Not 0: the running program started this process to take over, and sends messages of this version.
    unsigned predecessor_version = 0;
    // The same for all workers, and after an upgrade. Empty when neither is set.
    std::string secret{};
};
// Malformed values are ignored. A worker's variable takes precedence.
StartedBy started_by(const config::Environment& environment);

}  // namespace live::supervisor
