// A recording that nobody closed, because the process was killed: what of it is whole gets its name and plays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace live::service::dvr {

struct LeftRecording {
    // Not when nothing was recorded: then nothing is left of it either.
    std::optional<std::string> path;
    MediaTime duration{};
    std::uint64_t bytes = 0;
    std::uint64_t lost_bytes = 0;  // behind what was whole
};

// Of path.tmp. Blocks: for a worker. Errc::not_found when there is none, Errc::conflict as io::LeftFile, Errc::malformed
// when it is none of ours, Errc::denied, Errc::system; after an error it stays as it is, but for its last bytes.
Result<LeftRecording> finish_left_recording(const std::string& path);

}  // namespace live::service::dvr
