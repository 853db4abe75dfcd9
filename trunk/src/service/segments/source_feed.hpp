// SourceFeed: reads one stream for an output that segments it: packets, sync messages and publisher changes, in order; packets of
// a stream with renditions in the order of their times, which is the same on all nodes. It reads the source like any player. It
// also determines when the output is over: some time after the last publisher has left.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/ring/rendition_names.hpp"
#include "media/ring/track_aligner.hpp"
#include "media/source/cursor.hpp"
#include "session/common/admission.hpp"

namespace live::service::segments {

class SourceFeed {
public:
    // Payload that one turn passes to the sink, unless its only packet is larger.
    static constexpr std::size_t kTurnBytes = 512U << 10;

    // Limit of the wait for a worker's memory.
    static constexpr std::chrono::milliseconds kRoomLimit{200};

    // The consumer of a source. Functions with a deadline may suspend.
    class Sink {
    public:
        // A publisher has started; none: the publisher has left.
        virtual void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) = 0;
        virtual void on_packet(const media::Packet& packet, io::Deadline deadline) = 0;
        // Another node, or this one, has sent a message about the packets so far.
        virtual void on_sync(const media::SyncMessage& message, io::Deadline deadline) = 0;
        // Memory for the output of `next`, a frame larger than a turn: empty, of sufficient capacity, and resident.
        virtual void on_buffer(const media::Packet& /*next*/, std::vector<std::uint8_t> /*room*/) {}
        // Packets are missing before the next one.
        virtual void on_gap() = 0;

    protected:
        ~Sink() = default;
    };

    // `output` is the name in the log: "HLS".
    SourceFeed(std::string output, Ref<media::Source> source, media::WakeMode how, Log log);

    // None of these suspends.
    void on_published(const session::ClientRequest& publisher);
    void on_unpublished();
    // Disposes of the output now, because there is no publisher and the memory is needed.
    void give_up();
    // Wakes the output's fiber after an external change.
    void wake() { cursor_.readable().raise(); }
    bool is_published() const { return published_; }
    // Reports whether the last publisher has left and all its packets have been passed on.
    bool has_ended() const { return !published_ && changes_.empty(); }
    // Ends the output: later publishers are ignored.
    void end() { published_ = false; }

    // Passes on the available packets, or as many as fit into one turn of the loop: the backlog may be megabytes. A large frame
    // has a separate turn, and the memory for its copy comes from a worker thread, because making it resident takes several times
    // as long as the copy.
    enum class Drained : std::uint8_t { all, in_part };
    Drained drain(Sink& sink, io::Deadline deadline);
    // Passes on the packets that wait for those of renditions.
    void flush(Sink& sink, io::Deadline deadline);
    // Bytes of these packets.
    std::size_t held_bytes() const { return aligner_.bytes(); }
    // Waits for more packets after drain(). `over`: there was no publisher for `kept_for`, or give_up() was called.
    enum class Next : std::uint8_t { packets, over, cancelled };
    Next wait(Drained drained, Duration kept_for, io::Deadline deadline);
    // Sets whether the output has viewers. Initially it has none.
    void set_watched(bool watched) {
        cursor_.set_audience(watched ? media::Cursor::Audience::some : media::Cursor::Audience::none);
    }

    media::Source& source() { return *source_; }
    const media::Source& source() const { return *source_; }
    const std::string& url() const { return source_->url(); }

private:
    // A publisher starts or leaves before this packet, after the sync messages before `sync`.
    struct Change {
        media::Sequence at{};
        std::uint64_t sync = 0;
        std::optional<session::ClientRequest> publisher;
    };

    void hand_out_due(Sink& sink, io::Deadline deadline);
    void change_publisher(const Change& change, Sink& sink, io::Deadline deadline);
    void note_sync(const media::SyncMessage& message);
    void read_renditions(const media::SyncMessage& message);
    bool is_due(const Change& change);
    const media::SyncLog::Entry* due_sync();
    bool is_too_large(const media::Packet& packet);
    media::TrackAligner::Renditions renditions_at(const media::Packet& packet) const;
    void pass_aligned(Sink& sink, io::Deadline deadline);
    static void make_buffer(const media::Packet& next, Sink& sink, io::Deadline deadline);

    const std::string output_;
    Ref<media::Source> source_;
    Log log_;
    media::Cursor cursor_;
    media::TrackAligner aligner_;
    media::RenditionList listed_;     // the renditions at this place of the stream
    std::uint64_t next_sync_;         // in the source's SyncLog
    std::deque<Change> changes_;      // not yet reached
    std::uint64_t dropped_ = 0;       // by the cursor, as of the last check
    TimePoint ended_at_ = io::now();  // before the first publisher: since the feed exists
    bool published_ = false;
    bool relays_ = false;        // the publisher is another node
    bool is_given_up_ = false;   // until the next publisher
    bool large_logged_ = false;  // dropped large frames have been logged
};

}  // namespace live::service::segments
