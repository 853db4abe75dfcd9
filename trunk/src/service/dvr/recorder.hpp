// Recorder: writes one stream to files, for as long as it is published. Like any reader it has a cursor, which it polls several
// times a second. It waits for its own writes, so that a slow disk delays only the recorder. If the source drops packets that
// the recorder has not read, or if a write fails, the recording ends with an error, and the stream continues. A segmented
// recording starts again later.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "media/source/cursor.hpp"
#include "service/dvr/dvr_context.hpp"
#include "service/dvr/file_name.hpp"
#include "service/dvr/open_file.hpp"
#include "service/dvr/recording.hpp"
#include "service/dvr/start_clock.hpp"
#include "service/dvr/track_headers.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

class Recorder {
public:
    // How often it polls for new packets.
    static constexpr std::chrono::milliseconds kPollInterval{250};
    // Bytes per write, exceeded by at most one packet. After each kWriteInterval of media, fewer bytes are written as well.
    static constexpr std::size_t kWriteBytes = 1U << 20;
    static constexpr MediaTime kWriteInterval = std::chrono::seconds(1);
    // If one kind lags behind the other in the multiplex, the end of a file waits for it, at most this much media. Media that
    // lags more is dropped.
    static constexpr MediaTime kLagMax = std::chrono::seconds(2);
    static constexpr std::size_t kHeldBytesMax = 32U << 20;
    static constexpr std::size_t kHeldPacketsMax = 4'096;
    // Pauses of a segmented recording after a failed file.
    static constexpr std::chrono::seconds kRetryFirst{1};
    static constexpr std::chrono::seconds kRetryGreatest{30};

    struct State {
        std::string file;      // the current one, otherwise the last one
        MediaTime duration{};  // of that file
        std::uint64_t bytes = 0;
        std::uint64_t files = 0;  // complete files
        std::string error;        // the reason why nothing is recorded; empty while it records
    };

    // Records packets published from now on, or those since the join point too.
    Recorder(Ref<media::Source> source, const session::ClientRequest& request, const session::StreamPlan& plan,
             const DvrOptions& options, const DvrContext& context, Log log,
             media::Cursor::Start start = media::Cursor::Start::now);

    // Runs until end() was called and all packets before it are written, or until an error. A cancel ends it too, and still
    // completes the file.
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
    bool is_write_due() const;
    std::optional<media::Packet> next_packet();
    Result<void> push(const media::Packet& packet, io::Deadline deadline);
    bool is_before_file(const media::Packet& packet) const;
    Result<void> continue_within_gop(const media::Packet& packet, io::Deadline deadline);
    std::vector<media::Packet> video_since_key();
    bool is_due(const media::Packet& packet) const;
    bool may_begin_with(const media::Packet& packet) const;
    MediaTime age_of(const media::Packet& first);
    Result<void> open(const media::Packet& packet, io::Deadline deadline);
    Result<void> write(Recording::Last last, io::Deadline deadline);
    Result<void> close(io::Deadline deadline);
    void report(const std::string& error);
    void note_written();
    void fail(const Error& error, io::Deadline deadline);

    // The media of the open file, in stream time.
    struct Span {
        MediaTime zero{};        // the start of the file
        MediaTime begun{};       // its first packet
        MediaTime newest{};      // its newest packet
        MediaTime written_to{};  // media before this time is on disk
        MediaKind begun_with = MediaKind::video;
        MediaKindSet kinds;  // with frames in the file
    };

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
    TrackHeaders headers_;
    OpenFile file_;
    Span span_;
    struct Place {
        StartClock clock;
        wire::mp4::RecordingNote note;  // of the open file
        bool is_in_past = false;        // the first packet was published before the recorder began
    };
    Place place_;
    std::optional<Cut> cut_;              // the file has ended, for one kind at least
    std::deque<media::Packet> released_;  // held by the last cut; before the cursor's next packet
    // Messages that are logged once.
    struct Logged {
        bool is_unsupported = false;
        bool has_dropped_events = false;
    };
    Logged logged_;
    std::uint64_t dropped_ = 0;  // packets dropped by the cursor at the last check
    struct Retry {
        Backoff pauses{kRetryFirst, kRetryGreatest};
        TimePoint at{};  // no new file is opened before this time
    };
    Retry retry_;
    State state_;
};

}  // namespace live::service::dvr
