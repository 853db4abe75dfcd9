// DashStream: the MPEG-DASH of one stream. It lists the segments in the MPD. Players get them from the store, and a fiber of its
// own writes them to disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/dash/mpd.hpp"
#include "service/dash/options.hpp"
#include "service/dash/periods.hpp"
#include "service/dash/promises.hpp"
#include "service/dash/segment_files.hpp"
#include "service/files/event_counts.hpp"
#include "service/files/path_claims.hpp"
#include "service/segments/output.hpp"
#include "service/segments/store.hpp"

namespace live::service::dash {

class DashStream final : public segments::Output, private segments::SegmentWriter {
public:
    // Markers in the MPD; the oldest leave.
    static constexpr std::size_t kEventsMax = 32;
    // If files are never disposed of: how long they stay in memory without a publisher, in fragments.
    static constexpr int kFragmentsInMemory = 2;
    // Time limit for reading the files of an earlier process from disk.
    static constexpr std::chrono::seconds kRecoverLimit{5};
    // If media time is this far behind the wall clock when a publisher returns, it is advanced: players go by the clock.
    static constexpr MediaTime kGapMin = 500ms;

    // `mpd` is the file's normalized path; segments go into the folder of that name without its extension. `claim` covers
    // claimed_paths(mpd). `counts`: of all streams. Referenced objects must outlive this.
    DashStream(Ref<media::Source> source, std::string mpd, files::PathClaims::Claim claim, segments::StreamOfFiles name,
               const DashOptions& options, segments::Store& store, files::EventCounts& counts, Log log);
    ~DashStream();

    // Returns every file that a stream with that MPD writes.
    static std::vector<std::string> claimed_paths(const std::string& mpd);
    // Returns the same for MPDs of that template, without the MPD, for files::fits_form().
    static std::vector<std::string> segment_forms(const std::string& mpd_form);

    // Bytes in memory, with those that are queued for the disk.
    std::size_t held_bytes() const { return files_.held_bytes() + open_bytes() + kept_bytes(); }
    // Writes files to disk.
    void run_files(io::Deadline deadline) { files_.disk().run(deadline); }
    // Closes the queue: run_files() returns when it is empty.
    void close_files() { files_.disk().close(); }
    // Before the first publisher.
    void set_mirror(std::unique_ptr<files::FileMirror> mirror) { files_.disk().set_mirror(std::move(mirror)); }

private:
    void on_publisher_change(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) override;
    bool accept(const media::Packet& packet, io::Deadline deadline) override;
    void on_segment_sync(const segments::SegmentSync& sync, io::Deadline deadline) override;
    void on_headers(const segments::HeadersChanged& event) override;
    void on_opened(const segments::SegmentState& state) override;
    void on_part(segments::PartMade event) override;
    void on_segment(segments::SegmentMade event, io::Deadline deadline) override;
    void on_dropped(const segments::SegmentDropped& event) override;
    void on_resumed(const segments::Resumed& event) override;
    void on_event(const segments::EventFound& event) override;
    Duration time_after_end() const override;
    void finish() override;
    void recover(io::Deadline deadline);
    void add(MpdEvent event);
    void publish_opened();
    void follow_clock(MediaTime at_origin);
    void continue_recovered(MediaTime first, MediaTime by_clock);
    enum class List : std::uint8_t { players, disk };
    void write_mpd();
    std::string mpd_text(List list) const;
    MpdPeriod mpd_period(const Period& period, std::size_t ahead) const;
    MpdTrack mpd_track(const Period& period, std::size_t index, std::size_t ahead) const;
    const std::vector<segments::Header>& headers() const { return periods_.current().headers; }
    // The newest segment, if it is of the current period.
    const Segment* newest() const;
    void note_begin(MediaTime media_now);
    std::vector<std::string> forget_all();
    // The track that determines the start and end of segments.
    std::size_t leader() const;
    std::string file_of(std::size_t track, std::uint64_t number) const;
    MediaTime expected_duration() const;

    const std::string mpd_path_;
    const files::PathClaims::Claim claim_;
    const DashOptions options_;
    SegmentFiles files_;
    // The open segment, and the numbers that are published with it; none while this node relays the stream.
    std::optional<segments::SegmentState> opened_;
    std::vector<std::uint64_t> place_;

    // When media time was zero, by both clocks.
    std::optional<std::chrono::system_clock::time_point> began_;
    TimePoint began_at_{};
    bool must_follow_clock_ = false;
    Periods periods_;
    // Left by an earlier process: the tracks of the listed segments, until there are headers, and the end of the segments, until
    // there is media.
    std::vector<std::string> previous_tracks_;
    std::optional<MediaTime> previous_until_;
    std::vector<MpdSegment> open_;  // the segment in progress, once it has parts
    Promises promises_;
    segments::FileRef mpd_;
    std::vector<MpdEvent> events_;  // at most kEventsMax
    files::EventCounts& counts_;
    bool events_logged_ = false;  // dropped markers have been logged
    bool has_begun_ = false;      // there has been a publisher
};

}  // namespace live::service::dash
