// StreamOutput: the HLS of one stream, from its first publisher until its files are disposed of. A reader of the source like any
// player; what it has made is held for players, and written to the disk by a fiber of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/ref.hpp"
#include "base/signal.hpp"
#include "io/deadline.hpp"
#include "media/cursor.hpp"
#include "service/files/file_queue.hpp"
#include "service/files/path_claims.hpp"
#include "service/files/waiters.hpp"
#include "service/hls/container.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/names.hpp"
#include "service/hls/options.hpp"
#include "service/hls/segment_list.hpp"
#include "service/hls/segmenter.hpp"
#include "session/common/admission.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::hls {

// A fragment that is complete and on the disk.
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

class StreamOutput {
public:
    // Of a stream whose files stay for ever: how long it is held in memory when nobody publishes, in windows.
    static constexpr int kWindowsInMemory = 2;
    // Initialisation sections that are kept.
    static constexpr std::size_t kInitsMax = 64;
    // A disk that does not say by then what a server before this one has left holds nobody up any longer.
    static constexpr std::chrono::seconds kRecoverLimit{5};
    // A disk that fails is complained of so often.
    static constexpr std::chrono::seconds kComplaintInterval{10};

    struct Setup {
        HlsOptions options;
        StreamName name;
        std::string url;  // of the source
        Zone zone = Zone::local;
        files::PathClaims::Claim claim{};  // to all files of the stream
    };

    // What is referred to outlives this.
    StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log);
    ~StreamOutput();
    StreamOutput(const StreamOutput&) = delete;
    StreamOutput& operator=(const StreamOutput&) = delete;

    // None of the three suspends.
    void on_published(const session::ClientRequest& publisher);
    void on_unpublished();
    bool is_published() const { return published_; }
    // Of memory, what waits for the disk included.
    std::size_t held_bytes() const { return list_.bytes() + (list_.has_open() ? 0 : segmenter_.bytes()) + files_.bytes(); }
    // Nobody publishes, and the memory is needed: disposes of everything now.
    void give_up();

    // Makes segments until nobody publishes any more and everything is disposed of, or until it is cancelled.
    void run(io::Deadline deadline);
    // Writes them.
    void run_files(io::Deadline deadline) { files_.run(deadline); }
    // Nothing comes any more: run_files() may end when it is done.
    void close_files() { files_.close(); }
    bool is_over() const { return over_; }

    // Somebody has asked for what is made here.
    void note_asked() { asked_at_ = io::now(); }

    const HlsOptions& options() const { return setup_.options; }
    const StreamName& name() const { return setup_.name; }
    const std::string& url() const { return setup_.url; }
    const SegmentList& list() const { return list_; }
    media::Source& source() { return *source_; }

    // For a player; nothing stays borrowed. `query` is added to each URI, unless it is empty. None before there is a segment or
    // part.
    std::optional<std::string> playlist_text(SegmentList::Form form, std::string_view query);
    // A file's blocks; none when they are not in memory.
    std::optional<std::vector<Block>> blocks_of(const IndexedFile& file) const;
    // The same bytes for one request of them, when there are many; else nullptr.
    io::MemoryFileRef copy_for_request(const IndexedFile& file) const;
    // Those of the list; what a server before this one has left is waited for.
    SegmentList::Wait wait_for(std::uint64_t number, std::optional<std::uint64_t> part) const {
        return recovered_ ? list_.wait_for(number, part) : SegmentList::Wait::later;
    }
    // The part that a hint has promised may still be made.
    bool is_promised(const IndexedFile& file) const;
    // As a list of streams would name it, without an address. What is not known is left out; bandwidths are 1 then.
    wire::hls::Variant variant() const;
    bool is_low_latency() const;

    // Told of each change. The other owner is a request that waits, which may do so longer than the stream is there.
    const std::shared_ptr<files::Waiters>& waiters() { return waiters_; }

private:
    void recover(io::Deadline deadline);
    Result<void> read_left_behind(io::Deadline deadline);
    enum class Drained : std::uint8_t { all, in_part };
    Drained drain(io::Deadline deadline);
    void follow_publishers(io::Deadline deadline);
    bool is_too_large(const media::Packet& packet);
    void note_format(const media::Packet& packet);
    void note_codec(const media::Packet& packet, io::Deadline deadline);
    void begin_fmp4(io::Deadline deadline);
    void handle_made(io::Deadline deadline);
    void add(PartMade made);
    void add(SegmentMade made, io::Deadline deadline);
    Result<void> encrypt(ListedSegment& segment, io::Deadline deadline);
    void renew_key(std::uint64_t number);
    std::string map_for(const Block& init);
    void write(const ListedSegment& segment);
    void write_list();
    void on_written(std::uint64_t number, MediaTime duration, const FileName& name, const Result<void>& written);
    void fail(const Error& error);
    void clean_up();
    void changed();
    void remember(std::uint64_t number, const std::string& path, std::optional<std::uint64_t> part);
    void forget_old();
    void forget_all();
    std::vector<std::string> take_files(std::vector<ListedSegment>& segments);
    void dispose(io::Deadline deadline);
    Duration time_after_end() const;
    std::string& rendered(SegmentList::Form form);
    FileName next_name() const;

    const Setup setup_;
    Ref<media::Source> source_;
    FileIndex& index_;
    HlsEvents& events_;
    Log log_;
    Names names_;
    media::Cursor cursor_;
    Segmenter segmenter_;
    wire::mp4::SampleReader formats_;  // of this publisher, as the next two
    CodecWatch codecs_;
    std::array<std::optional<media::Packet>, media::kKindCount> configs_;  // the newest of each kind
    SegmentList list_;
    files::FileQueue files_;
    // Where in the source's ring somebody begins to publish, or ends.
    struct Change {
        media::Sequence at{};
        std::optional<session::ClientRequest> publisher;
    };
    std::deque<Change> changes_;  // that the cursor has not come to
    session::ClientRequest publisher_;
    std::uint64_t dropped_ = 0;  // by the cursor, as far as it is known here

    std::optional<FileName> upcoming_;  // of the segment that comes next, once it has been promised
    std::deque<std::pair<std::uint64_t, std::string>> indexed_;
    std::array<std::string, 2> texts_;  // of the playlist, for players and as a delta; empty when it has changed
    std::shared_ptr<files::Waiters> waiters_ = std::make_shared<files::Waiters>();
    std::optional<wire::hls::Key> key_;
    std::array<std::uint8_t, 16> key_bytes_{};
    std::string key_file_;
    Block init_;
    std::uint64_t inits_ = 0;
    std::string map_;
    // Of late; players that need older ones find them on the disk.
    struct Init {
        std::uint64_t number = 0;
        std::string file;
        Block bytes;
    };
    std::deque<Init> init_files_;

    TimePoint asked_at_{};
    TimePoint ended_at_{};
    TimePoint complained_at_{};
    bool published_ = false;
    bool is_given_up_ = false;  // until the next publisher
    bool ignoring_ = false;     // hls_on_error ignore, until the next publisher
    bool recovered_ = false;
    bool bytes_told_ = false;  // that they cut the list
    bool large_told_ = false;  // that frames are left out
    bool over_ = false;
};

}  // namespace live::service::hls
