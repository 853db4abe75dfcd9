// DashStream: the MPEG-DASH of one stream, from its first publisher until its files are disposed of. Its output is held in the
// store for players, and written to disk by a separate fiber.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/dash/mpd.hpp"
#include "service/dash/options.hpp"
#include "service/dash/promises.hpp"
#include "service/dash/segment.hpp"
#include "service/files/file_queue.hpp"
#include "service/files/path_claims.hpp"
#include "service/segments/source_feed.hpp"
#include "service/segments/store.hpp"
#include "service/segments/synced_segmenter.hpp"

namespace live::service::dash {

class DashStream final : private segments::SourceFeed::Sink {
public:
    // Segments kept after they leave the MPD, for players that hold the previous MPD.
    static constexpr std::size_t kGrace = 2;
    // For streams whose files are never disposed of: how long they stay in memory without a publisher, in fragments.
    static constexpr int kFragmentsInMemory = 2;
    // Sets of headers kept when the publisher's configuration changes often.
    static constexpr std::size_t kInitsMax = 16;
    // Minimum interval between log messages about a failing disk.
    static constexpr std::chrono::seconds kComplaintInterval{10};
    // Time limit for reading from disk what an earlier server process left.
    static constexpr std::chrono::seconds kRecoverLimit{5};
    // When a publisher returns and media time is this far behind the wall clock, it is advanced, because players go by the clock.
    static constexpr MediaTime kGapMin = 500ms;

    // `mpd` is the file's normalized path; segments go into the folder of that name without its extension. `claim` covers
    // claimed_paths(mpd). Referenced objects must outlive this.
    DashStream(Ref<media::Source> source, std::string mpd, files::PathClaims::Claim claim, segments::StreamOfFiles name,
               const DashOptions& options, segments::Store& store, Log log);
    ~DashStream();
    DashStream(const DashStream&) = delete;
    DashStream& operator=(const DashStream&) = delete;

    // Every file written by a stream with that MPD.
    static std::vector<std::string> claimed_paths(const std::string& mpd);
    // The same of everything else that goes with the MPD of that template, for files::fits_form().
    static std::vector<std::string> segment_forms(const std::string& mpd_form);

    // Neither suspends.
    void on_published(const session::ClientRequest& publisher) { feed_.on_published(publisher); }
    void on_unpublished() { feed_.on_unpublished(); }

    bool is_published() const { return feed_.is_published(); }
    // In memory, including what is queued for disk.
    std::size_t held_bytes() const;
    // Disposes of everything now: nobody publishes, and the memory is needed.
    void give_up() { feed_.give_up(); }

    // Makes segments until the stream is unpublished and disposed of, or until cancelled.
    void run(io::Deadline deadline);
    // Writes files to disk.
    void run_files(io::Deadline deadline) { disk_.run(deadline); }
    // Nothing more is queued: run_files() returns when the queue is empty.
    void close_files() { disk_.close(); }
    bool is_over() const { return over_; }
    const std::string& url() const { return feed_.url(); }

private:
    // The segments with one set of headers.
    struct Period {
        std::uint64_t number = 0;
        std::vector<segments::Header> headers;
        std::optional<MediaTime> start;  // in whole milliseconds; none before its first segment
    };

    void recover(io::Deadline deadline);
    void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) override;
    void on_packet(const media::Packet& packet, io::Deadline deadline) override;
    void on_sync(const media::SyncMessage& message, io::Deadline deadline) override;
    void publish_opened();
    bool is_listed_already(std::uint64_t number) const { return synced_.relays() && number < listed_below_; }
    void on_hole() override { synced_.interrupt(); }
    void on_room(const media::Packet& next, std::vector<std::uint8_t> room) override {
        segmenter_.give_room(next, std::move(room));
    }
    void look_for_audience();
    void follow_clock(MediaTime at_origin);
    void go_on(MediaTime first, MediaTime by_clock);
    void handle_made();
    void add(const segments::HeadersChanged& made);
    void add(segments::SegmenterEvent made);
    void add(const segments::SegmentsEnded& ended) { synced_.publish(ended, {}); }
    void add(const segments::SegmentOpened& opened);
    void add(const segments::OriginFollower::Resumed& resumed);
    void add(const segments::PartMade& made);
    void add(segments::SegmentMade made);
    void add(const segments::SegmentDropped& made);
    void write(const std::string& path, std::vector<Block> blocks);
    enum class List : std::uint8_t { players, disk };
    void write_mpd();
    std::string mpd_text(List list) const;
    MpdPeriod mpd_period(const Period& period, std::size_t ahead) const;
    MpdTrack mpd_track(const Period& period, std::size_t index, std::size_t ahead) const;
    void begin_period(const std::vector<segments::Header>& headers, std::uint64_t number, std::uint64_t hash);
    void note_period_start(MediaTime start);
    const std::vector<segments::Header>& headers() const { return periods_.back().headers; }
    // The newest segment, if it is of the current period.
    const Segment* newest() const;
    void note_begin(MediaTime media_now);
    void leave_list();
    void clean_up();
    void report_bytes();
    HeldFile hold(const std::string& path, const std::vector<Block>& blocks);
    // Removes from memory.
    void forget(const HeldFile& held) { store_.remove(held.path, held.file); }
    void forget(const Segment& segment, std::vector<std::string>& paths);
    static void release_first(std::deque<Segment>& segments);
    std::vector<std::string> forget_all();
    void dispose();
    Duration time_after_end() const;
    // The track that determines the start and end of segments.
    std::size_t leader() const;
    std::string path_of(const std::string& track, std::uint64_t number) const;
    std::string file_of(std::size_t track, std::uint64_t number) const;
    MediaTime expected_duration() const;

    const std::string mpd_path_;
    const std::string folder_;  // with a trailing slash
    const files::PathClaims::Claim claim_;
    const DashOptions options_;
    const segments::StreamOfFilesRef name_;
    segments::Store& store_;
    Log log_;
    segments::SourceFeed feed_;
    segments::SyncedSegmenter synced_;
    segments::Segmenter& segmenter_;  // of `synced_`
    // Of the open segment, and what is told beside it; none while this node relays the stream.
    std::optional<segments::SegmentState> opened_;
    std::vector<std::uint64_t> place_;
    std::uint64_t listed_below_ = 0;   // segments that a resumed stream repeats
    std::uint64_t followed_from_ = 0;  // the first fragment that follows the node with the publisher
    files::FileQueue disk_;

    // When media time was zero, by both clocks.
    std::optional<std::chrono::system_clock::time_point> began_;
    TimePoint began_at_{};
    MediaTime shift_{};  // from source time to MPD time
    bool must_follow_clock_ = false;
    std::deque<Period> periods_;  // the newest is current; of the others, those that have listed segments
    std::uint64_t inits_ = 0;
    // Identifies the newest headers, also when only another node has them.
    std::uint64_t headers_hash_ = 0;
    MediaTime period_start_{};
    // What an earlier process left: the tracks in `listed_`, while there are no headers, and until when there are segments, while
    // there is no media.
    std::vector<std::string> left_tracks_;
    std::optional<MediaTime> left_until_;
    std::deque<std::vector<HeldFile>> init_files_;
    std::deque<Segment> listed_;
    std::deque<Segment> left_;      // recently removed from the list
    std::vector<MpdSegment> open_;  // the segment in progress, once it has parts
    Promises promises_;
    segments::FileRef mpd_;

    TimePoint complained_at_{};
    bool has_begun_ = false;  // a publisher has come
    bool over_ = false;
    bool bytes_logged_ = false;  // the memory limit's effect on the list has been logged
};

}  // namespace live::service::dash
