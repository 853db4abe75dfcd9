// Recorder: one stream into files, for as long as it is published. A reader like any other: it has a cursor, and comes by several
// times a second for what is new. What it gives to the disk it waits for, so the disk's slowness is its own: when the source has
// to move its cursor on, or the disk says no, the recording ends with an error, and the stream goes on. One in segments begins
// anew some time later.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/ref.hpp"
#include "base/signal.hpp"
#include "io/output_file.hpp"
#include "media/cursor.hpp"
#include "service/dvr/file_name.hpp"
#include "service/dvr/open_recordings.hpp"
#include "service/dvr/recording.hpp"
#include "service/files/path_claims.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

// One file that is complete, or that will not become so.
struct Recorded {
    const session::ClientRequest& request;  // of the publisher
    const session::StreamPlan& plan;
    std::string file;   // as the path says it, relative to the server's folder or not
    std::string error;  // empty when it is complete; else why not
    MediaTime duration{};
    std::uint64_t bytes = 0;
};

// What all recordings of the process work with. main owns it and outlives them.
struct DvrContext {
    // So that a start after a kill finds what was open; without it, it does not. Outlives the recordings.
    OpenRecordings* open = nullptr;
    // So that no two outputs write into one file; without it, nobody looks. Outlives the recordings.
    files::PathClaims* claims = nullptr;
    std::string product;  // that files say they were made by
    Zone zone = Zone::local;
    // Called in the recorder's fiber; must not suspend.
    std::function<void(const Recorded&)> on_recorded;
};

class Recorder {
public:
    // How often it looks for what is new.
    static constexpr std::chrono::milliseconds kPollInterval{250};
    // Bytes that go to the disk at once, about; a packet more at most. Less goes at each kWriteInterval of media.
    static constexpr std::size_t kWriteBytes = 1U << 20;
    static constexpr MediaTime kWriteInterval = std::chrono::seconds(1);
    // For one write; a disk that takes longer ends the recording.
    static constexpr std::chrono::seconds kWriteLimit{10};
    // For the header of a long recording, and its name.
    static constexpr std::chrono::seconds kCloseLimit{30};
    // Pauses after a file that failed, of a recording in segments.
    static constexpr std::chrono::seconds kRetryFirst{1};
    static constexpr std::chrono::seconds kRetryGreatest{30};

    struct State {
        std::string file;      // the present or the last one
        MediaTime duration{};  // of it
        std::uint64_t bytes = 0;
        std::uint64_t files = 0;  // complete ones
        std::string error;        // why there is no recording now
    };

    // Records what is published from now on.
    Recorder(Ref<media::Source> source, const session::ClientRequest& request, const session::StreamPlan& plan,
             const DvrOptions& options, const DvrContext& context, Log log);

    // Until end() was called and all before it is written, or something fails. A cancel ends it too; what was recorded is closed
    // then as well.
    void run(io::Deadline deadline);
    // What is published from now on is not this recorder's any more.
    void end();

    const State& state() const { return state_; }

private:
    Result<void> record(io::Deadline deadline);
    bool is_tried_again(const Result<void>& recorded) const;
    Result<void> take_all(io::Deadline deadline);
    Result<void> add(const media::Packet& packet, io::Deadline deadline);
    Result<void> push(const media::Packet& packet, io::Deadline deadline);
    bool is_due(const media::Packet& packet) const;
    bool may_begin_with(const media::Packet& packet) const;
    void keep_config(const media::Packet& packet);
    Result<void> claim_file();
    Result<void> open(const media::Packet& packet, io::Deadline deadline);
    Result<void> write(Recording::Last last, io::Deadline deadline);
    Result<void> close(io::Deadline deadline);
    Result<void> close_file(io::Deadline deadline);
    void remember(io::Deadline deadline);
    void forget(io::Deadline deadline);
    void tell(const std::string& error);
    void note_written();
    bool keep_what_fitted(const Error& error, io::Deadline deadline);
    void fail(const Error& error, io::Deadline deadline);

    Ref<media::Source> source_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    StreamName name_;
    DvrOptions options_;
    const DvrContext& context_;
    Log log_;
    media::Cursor cursor_;
    Signal ended_;
    std::optional<media::Sequence> end_;
    // Newest metadata and sequence headers, with which each file begins.
    std::array<media::Packet, media::kKindCount> configs_;
    std::vector<media::Packet> extra_configs_;
    files::PathClaims::Claim claim_;  // to the file
    std::unique_ptr<io::OutputFile> file_;
    std::string remembered_;  // the name that OpenRecordings has for it
    // The other owner is the worker that writes the end of the file.
    std::shared_ptr<Recording> recording_;
    MediaTime zero_{};        // the stream's time at which the file begins
    MediaTime begun_{};       // the stream's time of its first packet
    MediaTime newest_{};      // and of its newest
    MediaTime written_to_{};  // as far as the disk has it
    bool is_unsupported_told_ = false;
    std::uint64_t dropped_ = 0;  // by the cursor, as far as it is known here
    Backoff retry_{kRetryFirst, kRetryGreatest};
    TimePoint retry_at_{};  // no file before
    State state_;
};

}  // namespace live::service::dvr
