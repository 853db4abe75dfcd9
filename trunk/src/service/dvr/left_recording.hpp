// A recording left open by a killed process: its intact part gets its name and can be played.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace live::service::dvr {

struct LeftRecording {
    // None when nothing was recorded: then the file is removed.
    std::optional<std::string> path;
    MediaTime duration{};
    std::uint64_t bytes = 0;
    std::uint64_t lost_bytes = 0;  // after the intact part
};

// Finishes path.tmp. Blocks: call in a worker. Errc::not_found when there is none, Errc::conflict as io::LeftFile,
// Errc::malformed when it is not one of ours, Errc::denied, Errc::system; after an error the file stays as it was, except for its
// last bytes.
Result<LeftRecording> finish_left_recording(const std::string& path);

}  // namespace live::service::dvr
