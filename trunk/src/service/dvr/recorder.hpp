// Recorder: writes one stream to files, for as long as it is published. A reader like any other: it has a cursor and polls
// several times a second. It waits for its own writes, so a slow disk delays only the recorder: when the source has to move its
// cursor on, or a write fails, the recording ends with an error, and the stream goes on. A segmented recording starts again some
// time later.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/files/output_file.hpp"
#include "media/source/cursor.hpp"
#include "service/dvr/file_name.hpp"
#include "service/dvr/open_recordings.hpp"
#include "service/dvr/recording.hpp"
#include "service/files/path_claims.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

// One file that is complete or has failed.
struct Recorded {
    const session::ClientRequest& request;  // the publisher's
    const session::StreamPlan& plan;
    std::string file;   // as in the path setting, maybe relative to the server's folder
    std::string error;  // empty when complete; otherwise the reason
    MediaTime duration{};
    std::uint64_t bytes = 0;
};

// Shared by all recordings of the process. app owns it; it outlives them.
struct DvrContext {
    // Lets the next start find recordings left by a kill; optional. Outlives the recordings.
    OpenRecordings* open = nullptr;
    // Prevents two outputs from writing the same file; optional. Outlives the recordings.
    files::PathClaims* claims = nullptr;
    std::string product;  // named in the files as their creator
    Zone zone = Zone::local;
    // Called in the recorder's fiber; must not suspend.
    std::function<void(const Recorded&)> on_recorded;
};

class Recorder {
public:
    // How often it polls for new packets.
    static constexpr std::chrono::milliseconds kPollInterval{250};
    // Approximate bytes per write; at most one packet more. Less is written after each kWriteInterval of media.
    static constexpr std::size_t kWriteBytes = 1U << 20;
    static constexpr MediaTime kWriteInterval = std::chrono::seconds(1);
    // Limit of one write; a slower disk ends the recording.
    static constexpr std::chrono::seconds kWriteLimit{10};
    // Limit for writing the header of a long recording and renaming it.
    static constexpr std::chrono::seconds kCloseLimit{30};
    // Where one kind lags behind the other in the multiplex, the end of a file waits for it, at most this much media. Media that
    // lags more is left out.
    static constexpr MediaTime kLagMax = std::chrono::seconds(2);
    static constexpr std::size_t kHeldBytesMax = 32U << 20;
    static constexpr std::size_t kHeldPacketsMax = 4'096;
    // Pauses after a failed file, in a segmented recording.
    static constexpr std::chrono::seconds kRetryFirst{1};
    static constexpr std::chrono::seconds kRetryGreatest{30};

    struct State {
        std::string file;      // the current or the last one
        MediaTime duration{};  // of that file
        std::uint64_t bytes = 0;
        std::uint64_t files = 0;  // complete ones
        std::string error;        // why nothing is recorded now
    };

    // Records packets published from now on.
    Recorder(Ref<media::Source> source, const session::ClientRequest& request, const session::StreamPlan& plan,
             const DvrOptions& options, const DvrContext& context, Log log);

    // Runs until end() was called and everything before it is written, or an error. A cancel ends it too; recorded data is still
    // finished.
    void run(io::Deadline deadline);
    // Packets published from now on are not recorded.
    void end();

    const State& state() const { return state_; }
    const std::string& url() const { return plan_.url; }

private:
    // Between two files: packets of the next one, until all kinds have reached it.
    struct Cut {
        MediaTime at{};
        std::deque<media::Packet> held;
        std::size_t bytes = 0;
        MediaKindSet reached;
    };

    Result<void> record(io::Deadline deadline);
    bool is_tried_again(const Result<void>& recorded) const;
    Result<void> take_all(io::Deadline deadline);
    Result<void> add(const media::Packet& packet, io::Deadline deadline);
    Result<void> hold(const media::Packet& packet, io::Deadline deadline);
    Result<void> finish_cut(io::Deadline deadline);
    Result<void> finish(io::Deadline deadline);
    std::optional<media::Packet> next_packet();
    Result<void> push(const media::Packet& packet, io::Deadline deadline);
    bool is_before_file(const media::Packet& packet) const;
    Result<void> go_on_within_gop(const media::Packet& packet, io::Deadline deadline);
    std::vector<media::Packet> video_since_key();
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
    // Newest metadata and sequence headers; each file begins with them.
    std::array<media::Packet, kMediaKindCount> configs_;
    std::vector<media::Packet> extra_configs_;
    files::PathClaims::Claim claim_;  // on the file
    std::unique_ptr<io::OutputFile> file_;
    std::string remembered_;  // its name in OpenRecordings
    // The other owner is the worker that writes the end of the file.
    std::shared_ptr<Recording> recording_;
    MediaTime zero_{};        // stream time at the start of the file
    MediaTime begun_{};       // stream time of its first packet
    MediaTime newest_{};      // and of its newest
    MediaTime written_to_{};  // up to here it is on disk
    MediaKind begun_with_ = MediaKind::video;
    MediaKindSet kinds_;                  // with frames in the file
    std::optional<Cut> cut_;              // the file has ended, for one kind at least
    std::deque<media::Packet> released_;  // held by the last cut; before the cursor's next packet
    bool is_unsupported_logged_ = false;
    std::uint64_t dropped_ = 0;  // by the cursor, as last seen
    Backoff retry_{kRetryFirst, kRetryGreatest};
    TimePoint retry_at_{};  // no new file before
    State state_;
};

}  // namespace live::service::dvr
