// DvrContext: everything that the recordings of a process share, and the event of a recorded file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/text/variables.hpp"
#include "base/time.hpp"
#include "service/dvr/open_recordings.hpp"
#include "service/files/event_counts.hpp"
#include "service/files/path_claims.hpp"
#include "session/common/admission.hpp"
#include "wire/mp4/read/recording_note.hpp"

namespace live::service::dvr {

// One file that is complete or has failed.
struct Recorded {
    const session::ClientRequest& request;  // the publisher's
    const session::StreamPlan& plan;
    std::string file;   // as in the path setting, maybe relative to the server's folder
    std::string error;  // the reason why it is incomplete; empty if it is complete
    MediaTime duration{};
    std::uint64_t bytes = 0;
    std::optional<wire::mp4::WallTime> start{};  // unknown for the file of a killed process
};

// A file that is being recorded, each time that more of it is on the disk.
struct RecordingProgress {
    const session::StreamPlan& plan;
    const wire::mp4::RecordingNote& note;
    std::string file;      // its final name; until then it is at file.tmp
    MediaTime playable{};  // zero: it cannot be played before it is complete
    std::uint64_t bytes = 0;
};

// Shared by all recordings of the process, which it must outlive.
struct DvrContext {
    // Lists the recordings in progress for the next start after a kill; optional. Must outlive the recordings.
    OpenRecordings* open = nullptr;
    // Prevents two outputs from writing the same file; optional. Must outlive the recordings.
    files::PathClaims* claims = nullptr;
    // Counts the timed events of all recordings; optional. Must outlive the recordings.
    files::EventCounts* events = nullptr;
    std::string product;  // the creator in the files
    Zone zone = Zone::local;
    // Called in the recorder's fiber; must not suspend.
    std::function<void(const Recorded&)> on_recorded;
    // The same; optional.
    std::function<void(const RecordingProgress&)> on_progress{};
};

}  // namespace live::service::dvr
