// Reads what a previous server process left of a stream on disk: the presentation to continue.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/dash/mpd_reader.hpp"

namespace live::service::dash {

struct LeftBehind {
    std::chrono::system_clock::time_point began{};
    std::uint64_t next_number = 0;  // of segments
    MediaTime until{};              // the end of the newest segment
    // The newest segments whose files all exist, and the bytes of each of those files: of the first segment's tracks, then of the
    // second's.
    std::vector<ReadMpd::Track> tracks;
    std::vector<std::size_t> bytes;
    std::uint64_t inits = 0;
    MediaTime period_start{};
    std::vector<std::vector<std::uint8_t>>
        headers;  // the newest initialization sections, of the same tracks; empty when one is gone
};

// `mpd` is the path of the MPD; its files are in `folder`, which ends with a slash. Errc::not_found.
Result<LeftBehind> read_left_behind(const std::string& mpd, const std::string& folder, io::Deadline deadline);

}  // namespace live::service::dash
