// StreamOutput: the HLS of one stream, from its first publisher until its files are disposed of. It follows the source, cuts it
// into segments, and passes those to its renditions: one of the default tracks muxed together, or, when a stream has several
// tracks of a kind, one per track, with a master playlist.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/files/path_claims.hpp"
#include "service/files/waiters.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/files/container.hpp"
#include "service/hls/files/disk.hpp"
#include "service/hls/files/keys.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/options.hpp"
#include "service/hls/program_dates.hpp"
#include "service/hls/rendition_set.hpp"
#include "service/segments/source_feed.hpp"
#include "service/segments/synced_segmenter.hpp"
#include "session/common/admission.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::hls {

// A fragment that is complete and written to disk.
struct FragmentEvent {
    const session::ClientRequest& publisher;
    const std::string& vhost;
    const std::string& stream_url;
    MediaTime duration{};
    std::string file;
    std::string uri;  // as in the playlist
    std::string playlist_file;
    std::string playlist_url;
    std::uint64_t number = 0;
};

class HlsEvents {
public:
    virtual ~HlsEvents() = default;
    // Must not suspend.
    virtual void on_fragment(const FragmentEvent& event) = 0;
};

class StreamOutput final : private segments::SourceFeed::Sink {
public:
    // For streams whose files are never disposed of: how long they stay in memory without a publisher, in windows.
    static constexpr int kWindowsInMemory = 2;
    // Time limit for reading from disk what an earlier server process left.
    static constexpr std::chrono::seconds kRecoverLimit{5};
    // Time limit of a blocked playlist request, in target durations (8216bis, 6.2.5.2).
    static constexpr int kWaitTargets = 3;

    struct Setup {
        HlsOptions options;
        StreamName name;
        std::string url;  // of the source
        Zone zone = Zone::local;
        files::PathClaims::Claim claim{};  // to all files of the default tracks
        files::PathClaims& claims;         // for those of other tracks
    };

    // Referenced objects must outlive this.
    StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log);
    ~StreamOutput();
    StreamOutput(const StreamOutput&) = delete;
    StreamOutput& operator=(const StreamOutput&) = delete;

    // None of the three suspends.
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

    // A player has requested something of this stream.
    void note_asked() { stream_->asked_at = io::now(); }

    const HlsOptions& options() const { return setup_.options; }
    const StreamName& name() const { return setup_.name; }
    const std::string& url() const { return setup_.url; }
    media::Source& source() { return feed_.source(); }

    // Whether the stream's own playlist is a master playlist of its tracks.
    bool has_renditions() const { return renditions_.is_by_track(); }
    // Whether there is something to play.
    bool has_playlist() const { return renditions_.has_playlist(); }
    // The same for players that do not support parts.
    bool has_segment() const { return renditions_.has_segment(); }
    // Another node publishes it, and this one joined later, or has missed something: its lists lack what the other one lists.
    bool is_partial() const;
    // The rendition of the default tracks muxed together, as long as it is produced.
    Rendition& together() { return renditions_.together(); }
    // The master playlist of separate tracks. `uri_of` returns the URI of a track's playlist for a player. None before it has a
    // track.
    std::optional<std::string> master_text(const RenditionSet::UriOf& uri_of) const {
        return renditions_.master_text(feed_.source(), uri_of);
    }
    // The master playlist entry of the stream as a whole, without a URI. Unknown attributes are omitted.
    wire::hls::Variant variant() const;
    bool is_low_latency() const;
    // As SegmentList::wait_for(); Wait::later until what an earlier process left has been read.
    SegmentList::Wait wait_for(const Rendition& rendition, std::uint64_t number, std::optional<std::uint64_t> part) const {
        return recovered_ ? rendition.list().wait_for(number, part) : SegmentList::Wait::later;
    }
    // How long a request waits for something not yet available.
    Duration wait_limit() const { return stream_->wait_limit; }

    // Notified of every change. The other owner is a waiting request, which may outlive the stream.
    const std::shared_ptr<files::Waiters>& waiters() { return waiters_; }

private:
    void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) override;
    void on_packet(const media::Packet& packet, io::Deadline deadline) override;
    void on_sync(const media::SyncMessage& message, io::Deadline deadline) override;
    void on_hole() override { synced_.interrupt(); }
    void on_room(const media::Packet& next, std::vector<std::uint8_t> room) override {
        segmenter_.give_room(next, std::move(room));
    }
    void recover(io::Deadline deadline);
    void note_format(const media::Packet& packet);
    void note_codec(const media::Packet& packet, io::Deadline deadline);
    void note_track(const media::Packet& packet, io::Deadline deadline);
    void begin_fmp4(io::Deadline deadline);
    void begin_renditions(io::Deadline deadline);
    void push_configs();
    void handle_made(io::Deadline deadline);
    void handle(segments::SegmenterEvent made, io::Deadline deadline);
    void handle(const segments::OriginFollower::Resumed& resumed);
    void publish_opened(const segments::SegmentState& state);
    void note_zero(const segments::SegmentSync& sync);
    std::optional<UtcTime> date_of(MediaTime start, MediaTime newest);
    bool is_listed_already(std::uint64_t number) const { return synced_.relays() && number < listed_below_; }
    void add(segments::PartMade made);
    void add(segments::SegmentMade made, io::Deadline deadline);
    Result<void> encrypt(std::vector<segments::Piece>& pieces, io::Deadline deadline);
    void write(Rendition& rendition, const ListedSegment& segment);
    void write_lists();
    void changed();
    void dispose(io::Deadline deadline);
    Duration time_after_end() const;

    const Setup setup_;
    HlsEvents& events_;
    Log log_;
    segments::SourceFeed feed_;
    Disk disk_;
    const segments::StreamOfFilesRef stream_;
    segments::SyncedSegmenter synced_;
    segments::Segmenter& segmenter_;   // of `synced_`
    wire::mp4::SampleReader formats_;  // of this publisher's default tracks, like the next two
    CodecWatch codecs_;
    std::map<std::pair<MediaKind, media::TrackId>, media::Packet> configs_;  // the newest of each track, at most kTracksMax
    RenditionSet renditions_;
    ProgramDates dates_;
    std::optional<Keys> keys_;
    std::string master_on_disk_;
    session::ClientRequest publisher_;
    std::shared_ptr<files::Waiters> waiters_ = std::make_shared<files::Waiters>();
    std::uint64_t listed_below_ = 0;   // segments that a resumed stream repeats, by the segmenter's number
    std::uint64_t followed_from_ = 0;  // the number of the first segment that follows the publisher's node
    MediaTime listed_until_{};         // the end of the last listed segment
    bool breaks_ = false;              // the next segment is another instance's
    bool recovered_ = false;
    bool skips_next_ = false;     // parts of the next fragment may have been served by an earlier process
    bool bytes_logged_ = false;   // the memory limit's effect on the list has been logged
    bool tracks_logged_ = false;  // dropped tracks have been logged
    bool over_ = false;
};

}  // namespace live::service::hls
