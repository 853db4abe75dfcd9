// StreamOutput: the HLS of one stream. It passes the segments to its renditions: one of the default tracks muxed together, or, if
// the stream has several tracks of a kind, one per track with a master playlist.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/files/event_counts.hpp"
#include "service/files/path_claims.hpp"
#include "service/files/waiters.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/files/container.hpp"
#include "service/hls/files/disk.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/fragment_writer.hpp"
#include "service/hls/options.hpp"
#include "service/hls/program_dates.hpp"
#include "service/hls/rendition_set.hpp"
#include "service/hls/text_renditions.hpp"
#include "service/hls/timed/date_ranges.hpp"
#include "service/segments/output.hpp"

namespace live::service::hls {

class StreamOutput final : public segments::Output, private segments::SegmentWriter {
public:
    // If files are never disposed of: how long they stay in memory without a publisher, in windows.
    static constexpr int kWindowsInMemory = 2;
    // Time limit for reading the files of an earlier process from disk.
    static constexpr std::chrono::seconds kRecoverLimit{5};
    // Time limit of a blocked playlist request, in target durations (8216bis, 6.2.5.2).
    static constexpr int kWaitTargets = 3;

    struct Setup {
        HlsOptions options;
        StreamName name;
        std::string url;  // of the source
        Zone zone = Zone::local;
        files::PathClaims::Claim claim{};       // to all files of the default tracks
        files::PathClaims& claims;              // for the files of other tracks
        files::FileMirrors* mirrors = nullptr;  // for `push`
        files::EventCounts& events;             // of all streams
    };

    // Referenced objects must outlive this.
    StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log);

    // Bytes in memory, with those that are queued for the disk.
    std::size_t held_bytes() const;
    // Recovers the files of an earlier process, and makes segments as Output::run().
    void run(io::Deadline deadline);
    // Writes files to disk.
    void run_files(io::Deadline deadline) { disk_.run(deadline); }
    // Closes the queue: run_files() returns when it is empty.
    void close_files() { disk_.close(); }

    // A player has requested a file of this stream.
    void note_request() { stream()->requested_at = io::now(); }

    const HlsOptions& options() const { return setup_.options; }
    const StreamName& name() const { return setup_.name; }

    // Whether the stream's own playlist is a master playlist of its tracks.
    bool has_renditions() const { return renditions_.is_by_track(); }
    const RenditionSet& renditions() const { return renditions_; }
    // Whether there is something to play for players that do not support parts.
    bool has_segment() const { return renditions_.has_segment(); }
    // Whether the origin lists segments that this node lacks, because it joined later or has lost packets.
    bool is_partial() const { return is_published() && lacks_segments(renditions_.first_listed()); }
    // The rendition of the default tracks muxed together, as long as it is produced.
    Rendition& together() { return renditions_.together(); }
    // Returns the master playlist of separate tracks; none before the first track. `uri_of` returns the URI of a track's playlist
    // for a player.
    std::optional<std::string> master_text(const RenditionSet::UriOf& uri_of) const {
        return renditions_.master_text(source(), uri_of, texts_.media(uri_of));
    }
    // Returns the subtitles for a master playlist of the stream as a whole.
    std::vector<wire::hls::Rendition> subtitles(const RenditionSet::UriOf& uri_of) const { return texts_.media(uri_of); }
    // Returns the master playlist entry of the stream as a whole, without a URI. Unknown attributes are omitted.
    wire::hls::Variant variant() const;
    bool is_low_latency() const;
    // As SegmentList::wait_for(); Wait::later until the files of an earlier process have been read.
    SegmentList::Wait wait_for(const Rendition& rendition, std::uint64_t number, std::optional<std::uint64_t> part) const {
        return recovered_ ? rendition.list().wait_for(number, part) : SegmentList::Wait::later;
    }
    // How long a request waits for a segment or part that does not exist yet.
    Duration wait_limit() const { return stream()->wait_limit; }

    // Notified of every change. The other owner is a waiting request, which may outlive the stream.
    const std::shared_ptr<files::Waiters>& waiters() { return waiters_; }

private:
    void on_publisher_change(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) override;
    bool accept(const media::Packet& packet, io::Deadline deadline) override;
    void on_segment_sync(const segments::SegmentSync& sync, io::Deadline deadline) override;
    void on_headers(const segments::HeadersChanged& event) override { renditions_.add(event); }
    void on_opened(const segments::SegmentState& state) override;
    void on_part(segments::PartMade event) override;
    void on_segment(segments::SegmentMade event, io::Deadline deadline) override;
    void on_dropped(const segments::SegmentDropped&) override { renditions_.drop_open(); }
    void on_resumed(const segments::Resumed& event) override;
    void on_event(const segments::EventFound& event) override;
    void on_events_handled(bool any, bool has_ended) override;
    void dispose(io::Deadline deadline) override;
    Duration time_after_end() const override;
    void finish() override;
    void recover(io::Deadline deadline);
    void choose_container(const media::Packet& packet, io::Deadline deadline);
    bool needs_renditions(const media::Packet& packet);
    void begin_fmp4(io::Deadline deadline);
    void begin_renditions(io::Deadline deadline);
    void changed();

    const Setup setup_;
    Disk disk_;
    CodecWatch codecs_;  // of this publisher's default tracks
    DateRanges ranges_;
    RenditionSet renditions_;
    TextRenditions texts_;
    FragmentWriter writer_;
    ProgramDates dates_;
    std::shared_ptr<files::Waiters> waiters_ = std::make_shared<files::Waiters>();
    MediaTime listed_until_{};   // the end of the last listed segment
    bool breaks_ = false;        // the next segment is another instance's
    bool origin_ended_ = false;  // the newest sync message ends a publisher's last segment
    bool recovered_ = false;
    bool skips_next_ = false;     // an earlier process may have served parts of the next fragment
    bool bytes_logged_ = false;   // the memory limit's effect on the list has been logged
    bool tracks_logged_ = false;  // dropped tracks have been logged
    bool events_logged_ = false;  // dropped markers or lines of subtitles have been logged
};

}  // namespace live::service::hls
