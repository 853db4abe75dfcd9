// DashStream: the MPEG-DASH of one stream, from its first publisher until its files are disposed of. What it has made is held for
// players in the store, and written to the disk by a fiber of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/ref.hpp"
#include "io/deadline.hpp"
#include "service/dash/mpd.hpp"
#include "service/dash/options.hpp"
#include "service/files/file_queue.hpp"
#include "service/files/path_claims.hpp"
#include "service/segments/segmenter.hpp"
#include "service/segments/source_feed.hpp"
#include "service/segments/store.hpp"

namespace live::service::dash {

class DashStream final : private segments::SourceFeed::Sink {
public:
    // Segments that are kept behind those in the MPD, for players that have read the one before.
    static constexpr std::size_t kGrace = 2;
    // Of a stream whose files stay for ever: how long it is held in memory when nobody publishes, in fragments.
    static constexpr int kFragmentsInMemory = 2;
    // Sets of headers that are kept, when the publisher's configuration changes often.
    static constexpr std::size_t kInitsMax = 16;
    // How often a disk that fails is complained of.
    static constexpr std::chrono::seconds kComplaintInterval{10};
    // Media time that is so far behind the clock when another publisher comes is moved on, as players count by the clock.
    static constexpr MediaTime kGapMin = 500ms;

    // `mpd` is the file's path in one spelling; segments go into the folder of that name without its ending. `claim` is to
    // claimed_paths(mpd). What is referred to outlives this.
    DashStream(Ref<media::Source> source, std::string mpd, files::PathClaims::Claim claim, segments::StreamOfFiles name,
               const DashOptions& options, segments::Store& store, Log log);
    ~DashStream();
    DashStream(const DashStream&) = delete;
    DashStream& operator=(const DashStream&) = delete;

    // Every file that a stream with that MPD writes.
    static std::vector<std::string> claimed_paths(const std::string& mpd);

    // Neither suspends.
    void on_published(const session::ClientRequest& publisher) { feed_.on_published(publisher); }
    void on_unpublished() { feed_.on_unpublished(); }

    bool is_published() const { return feed_.is_published(); }
    // Of memory, what waits for the disk included.
    std::size_t held_bytes() const;
    // Nobody publishes, and the memory is needed: disposes of everything now.
    void give_up() { feed_.give_up(); }

    // Makes segments until nobody publishes any more and everything is disposed of, or until it is cancelled.
    void run(io::Deadline deadline);
    // Writes them.
    void run_files(io::Deadline deadline) { disk_.run(deadline); }
    // Nothing comes any more: run_files() may end when it is done.
    void close_files() { disk_.close(); }
    bool is_over() const { return over_; }
    const std::string& url() const { return feed_.url(); }

private:
    // A file in memory, and where it is on the disk.
    struct HeldFile {
        std::string path;
        segments::FileRef file;
    };
    struct TrackPiece {
        HeldFile held;
        MpdSegment times;
        std::size_t bytes = 0;
    };
    struct Segment {
        std::uint64_t number = 0;
        std::vector<TrackPiece> tracks;  // as the headers that count for it

        std::size_t bytes() const;
    };

    void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) override;
    void on_packet(const media::Packet& packet, io::Deadline deadline) override;
    void on_hole() override { segmenter_.interrupt(); }
    void look_for_audience();
    void follow_clock(const media::Packet& packet);
    void handle_made();
    void add(const segments::HeadersChanged& made);
    void add(const segments::PartMade& made);
    void add(segments::SegmentMade made);
    void add(const segments::SegmentDropped& made);
    void write(const std::string& path, std::vector<Block> blocks);
    void write_mpd(bool with_open);
    std::string mpd_text(bool with_open) const;
    MpdTrack mpd_track(std::size_t index, bool with_open) const;
    void note_begin(MediaTime media_now);
    void leave_list();
    void clean_up();
    void report_bytes();
    HeldFile hold(const std::string& path, const std::vector<Block>& blocks);
    // From memory.
    void forget(const HeldFile& held) { store_.remove(held.path, held.file); }
    void forget(const Segment& segment, std::vector<std::string>& paths);
    // The files that the next number will have are there to be waited for.
    void promise(std::uint64_t number);
    void promise_tracks();
    void break_promise();
    static void break_promise(segments::Store& store, const HeldFile& held);
    static void release_first(std::deque<Segment>& segments);
    std::vector<std::string> forget_all();
    void dispose();
    Duration time_after_end() const;
    // Whose segments say when they begin and end.
    std::size_t leader() const;
    std::string file_of(std::size_t track, std::uint64_t number) const;
    MediaTime foretold() const;

    const std::string mpd_path_;
    const std::string folder_;  // with a slash at its end
    const files::PathClaims::Claim claim_;
    const DashOptions options_;
    const segments::StreamOfFilesRef name_;
    segments::Store& store_;
    Log log_;
    segments::SourceFeed feed_;
    segments::Segmenter segmenter_;
    files::FileQueue disk_;

    // When media time was zero, by both clocks.
    std::optional<std::chrono::system_clock::time_point> began_;
    TimePoint began_at_{};
    MediaTime shift_{};  // from the source's time to that of the MPD
    bool must_follow_clock_ = false;
    std::vector<segments::Header> headers_;  // that count now
    std::uint64_t inits_ = 0;
    std::string init_suffix_;
    std::deque<std::vector<HeldFile>> init_files_;
    std::deque<Segment> listed_;
    std::deque<Segment> left_;      // of late, by the list
    std::vector<MpdSegment> open_;  // the segment that is being made, once parts of it are there
    std::optional<Segment> promised_;
    segments::FileRef mpd_;

    TimePoint complained_at_{};
    bool over_ = false;
    bool bytes_told_ = false;  // that they cut the list
};

}  // namespace live::service::dash
