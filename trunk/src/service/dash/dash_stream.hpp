// DashStream: the MPEG-DASH of one stream, from its first publisher until its files are disposed of. A reader of the source like
// any player; what it has made is held for players, and written to the disk by a fiber of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/ref.hpp"
#include "io/deadline.hpp"
#include "media/cursor.hpp"
#include "service/dash/held_files.hpp"
#include "service/dash/mpd.hpp"
#include "service/dash/options.hpp"
#include "service/dash/segmenter.hpp"
#include "service/files/file_queue.hpp"
#include "service/files/path_claims.hpp"

namespace live::service::dash {

class DashStream {
public:
    // Segments that are kept behind those in the MPD, for who has read the one before.
    static constexpr std::size_t kGrace = 2;
    // Of a stream whose files stay for ever: how long it is held in memory when nobody publishes, in fragments.
    static constexpr int kFragmentsInMemory = 2;
    // Headers that are kept, when the publisher's configuration changes often.
    static constexpr std::size_t kInitsMax = 16;
    // A disk that fails is complained of so often.
    static constexpr std::chrono::seconds kComplaintInterval{10};
    // Media time that is so far behind the clock when another publisher comes is moved on, as players count by the clock.
    static constexpr MediaTime kGapMin = 500ms;

    // `mpd` is the file's path in one spelling; segments go into the folder of that name without its ending. `claim` is to
    // claimed_paths(mpd). What is referred to outlives this.
    DashStream(Ref<media::Source> source, std::string mpd, files::PathClaims::Claim claim, HeldStream name,
               const DashOptions& options, HeldFiles& held, Log log);
    ~DashStream();
    DashStream(const DashStream&) = delete;
    DashStream& operator=(const DashStream&) = delete;

    // Every file that a stream with that MPD writes.
    static std::vector<std::string> claimed_paths(const std::string& mpd);

    // Neither suspends.
    void on_published();
    void on_unpublished();

    bool is_published() const { return published_; }
    // Of memory, what waits for the disk included.
    std::size_t held_bytes() const;
    // Nobody publishes, and the memory is needed: disposes of everything now.
    void give_up();

    // Makes segments until nobody publishes any more and everything is disposed of, or until it is cancelled.
    void run(io::Deadline deadline);
    // Writes them.
    void run_files(io::Deadline deadline) { disk_.run(deadline); }
    // Nothing comes any more: run_files() may end when it is done.
    void close_files() { disk_.close(); }
    bool is_over() const { return over_; }
    const std::string& url() const { return source_->url(); }

private:
    using Held = HeldFileRef;
    static HeldStreamRef named(HeldStream name, Duration idle_limit);
    Held hold(const std::string& path, const std::vector<Block>& blocks);
    struct Segment {
        std::uint64_t number = 0;
        PerTrack<MpdSegment> times;  // these three: of the tracks that are there
        PerTrack<std::size_t> bytes{};
        PerTrack<Held> held;

        std::size_t all_bytes() const { return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}); }
    };
    struct Init {
        PerTrack<std::string> paths;
        PerTrack<Held> held;
    };

    enum class Drained : std::uint8_t { all, in_part };
    Drained drain();
    void follow_publishers();
    bool is_too_large(const media::Packet& packet);
    void look_for_audience();
    void follow_clock(const media::Packet& packet);
    void handle_made();
    void add(HeadersMade made);
    void add(const ChunkMade& made);
    void add(SegmentMade made);
    void add(const SegmentDropped& made);
    void write(const std::string& path, std::vector<Block> blocks);
    void write_mpd(bool with_open);
    std::string mpd_text(bool with_open) const;
    void note_begin(MediaTime media_now);
    void clean_up();
    void report_bytes();
    // From memory; the paths are added to `paths`.
    void forget(const Segment& segment, std::vector<std::string>& paths);
    std::vector<std::string> forget(const Init& init);
    // The files that the next number will have are there to be waited for.
    void promise(std::uint64_t number);
    void promise_tracks();
    void break_promise();
    static void release_first(std::deque<Segment>& segments);
    void forget_all();
    void dispose();
    Duration time_after_end() const;
    bool is_there(Track track) const { return formats_[index_of(track)].has_value(); }
    // Whose segments say when they begin and end.
    Track leader() const { return is_there(Track::video) ? Track::video : Track::audio; }
    std::string file_of(Track track, std::uint64_t number) const;
    MediaTime foretold() const;

    Ref<media::Source> source_;
    const std::string mpd_path_;
    const std::string folder_;  // with a slash at its end
    const files::PathClaims::Claim claim_;
    const DashOptions options_;
    const HeldStreamRef name_;
    HeldFiles& held_;
    Log log_;
    media::Cursor cursor_;
    Segmenter segmenter_;
    files::FileQueue disk_;
    // Where in the source's ring somebody begins to publish, or ends.
    struct Change {
        media::Sequence at{};
        bool begins = false;
    };
    std::deque<Change> changes_;  // that the cursor has not come to
    std::uint64_t dropped_ = 0;   // by the cursor, as far as it is known here

    // When media time was zero, by both clocks.
    std::optional<std::chrono::system_clock::time_point> began_;
    TimePoint began_at_{};
    MediaTime shift_{};  // from the source's time to that of the MPD
    bool must_follow_clock_ = false;
    PerTrack<std::optional<wire::mp4::TrackFormat>> formats_;  // of the tracks that are there
    std::uint64_t inits_ = 0;
    std::string init_suffix_;
    std::deque<Init> init_files_;
    std::deque<Segment> listed_;
    std::deque<Segment> left_;                  // of late, by the list
    std::optional<PerTrack<MpdSegment>> open_;  // the segment that is being made, once chunks of it are there
    std::optional<Segment> promised_;
    Held mpd_;

    TimePoint asked_at_{};
    TimePoint ended_at_{};
    TimePoint complained_at_{};
    bool published_ = false;
    bool is_given_up_ = false;  // until the next publisher
    bool over_ = false;
    bool bytes_told_ = false;  // that they cut the list
    bool large_told_ = false;  // that frames are left out
};

}  // namespace live::service::dash
