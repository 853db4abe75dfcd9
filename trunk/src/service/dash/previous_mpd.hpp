// Reads the presentation that an earlier process has left on disk, to continue it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/dash/mpd_reader.hpp"

namespace live::service::dash {

struct PreviousMpd {
    std::chrono::system_clock::time_point began{};
    std::uint64_t next_number = 0;  // of segments
    MediaTime until{};              // the end of the newest segment
    // The newest segments whose files all exist, and the bytes of each file: those of the first segment's tracks, then those of
    // the second's.
    std::vector<ReadMpd::Track> tracks;
    std::vector<std::size_t> bytes;
    std::uint64_t inits = 0;
    MediaTime period_start{};
    std::vector<std::vector<std::uint8_t>>
        headers;  // the newest initialization sections, of the same tracks; empty if one is missing
};

// `mpd` is the path of the MPD; its files are in `folder`, which ends with a slash. Errc::not_found.
Result<PreviousMpd> read_previous_mpd(const std::string& mpd, const std::string& folder, io::Deadline deadline);

}  // namespace live::service::dash
