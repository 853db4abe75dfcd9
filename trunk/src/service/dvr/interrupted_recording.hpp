// Finishes a recording that a killed process left open: renames the file to its final name, with the intact part, which can be
// played.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace live::service::dvr {

struct InterruptedRecording {
    // nullopt if nothing was recorded: the file is then removed.
    std::optional<std::string> path;
    MediaTime duration{};
    std::uint64_t bytes = 0;
    std::uint64_t lost_bytes = 0;  // after the intact part
};

// Finishes path.tmp. Blocks: call it in a worker. Errc::not_found: it does not exist; Errc::conflict: as io::LeftFile;
// Errc::malformed: not a recording of this server; Errc::denied, Errc::system. An error leaves the file unchanged, except its
// last bytes.
Result<InterruptedRecording> finish_interrupted_recording(const std::string& path);

}  // namespace live::service::dvr
