// Output: the part that HLS and DASH have in common. It follows one stream, from its first publisher until the output's files are
// disposed of: it reads packets, sync messages and publisher changes, segments them, and passes the events to its SegmentWriter.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/segments/segment_writer.hpp"
#include "service/segments/segmenter.hpp"
#include "service/segments/source_feed.hpp"
#include "service/segments/store.hpp"
#include "service/segments/synced_segmenter.hpp"
#include "session/common/admission.hpp"

namespace live::service::segments {

class Output : private SourceFeed::Sink {
public:
    struct Setup {
        std::string name;         // in the log: "HLS"
        std::string series;       // of sync messages: "hls"
        std::uint64_t rules = 0;  // a hash of the settings that decide the segments' bytes
        media::WakeMode wake = media::WakeMode::batched;
        StreamOfFilesRef stream;
    };

    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // None of the three suspends.
    void on_published(const session::ClientRequest& publisher) { feed_.on_published(publisher); }
    void on_unpublished() { feed_.on_unpublished(); }
    // Disposes of everything now, because there is no publisher and the memory is needed.
    void give_up() { feed_.give_up(); }
    bool is_published() const { return feed_.is_published(); }
    // Makes segments until the stream is unpublished and disposed of, or until cancelled.
    void run(io::Deadline deadline);
    bool is_over() const { return is_over_; }

    const std::string& url() const { return feed_.url(); }
    media::Source& source() { return feed_.source(); }
    const media::Source& source() const { return feed_.source(); }

protected:
    // `writer` must outlive this.
    Output(Setup setup, SegmentWriter& writer, Ref<media::Source> source, Segmenter segmenter, Log log);
    ~Output() = default;

    const Log& log() const { return log_; }
    const StreamOfFilesRef& stream() const { return setup_.stream; }
    // For the disk, which may disconnect the publisher after an error.
    SourceFeed& feed() { return feed_; }
    Segmenter& segmenter() { return synced_.segmenter(); }
    const Segmenter& segmenter() const { return synced_.segmenter(); }
    // Whether another node has the publisher, and whether this node is at the same segment as that node.
    bool relays() const { return synced_.relays(); }
    bool is_following() const { return synced_.is_following(); }
    // Reports whether the last segment is being made.
    bool is_ending() const { return is_ending_; }
    // Bytes that are not in a file yet.
    std::size_t open_bytes() const { return synced_.segmenter().bytes(); }
    std::size_t kept_bytes() const { return synced_.kept_bytes() + feed_.held_bytes(); }

    // Added to the time of each packet from now on.
    MediaTime shift() const { return shift_; }
    void set_shift(MediaTime shift) { shift_ = shift; }
    // The same on a node that relays the stream, for the packets that it has kept too.
    void follow_shift(MediaTime shift);
    // From the time of a packet that is not shifted yet.
    MediaTime to_origin() const { return synced_.to_origin(); }

    // Passes the events of the segmenter to the writer.
    void handle_events(io::Deadline deadline);
    // Gives the segmenter the configurations of the publisher's tracks again, for another layout.
    void push_configs();
    // Sends the beginning of a segment to the other nodes, with the numbers of the manifest's writer.
    void publish(const SegmentState& state, std::vector<std::uint64_t> list) { synced_.publish(state, std::move(list)); }

    // Where the list follows the origin after Resumed: segments below `number` are listed already.
    void skip_below(std::uint64_t number) { listed_below_ = number; }
    // The first listed segment that follows the origin.
    void follow_from(std::uint64_t number) { followed_from_ = number; }
    // Whether the origin lists segments before `first`, the first listed one.
    bool lacks_segments(std::optional<std::uint64_t> first) const {
        return relays() && (!is_following() || !first || *first <= followed_from_);
    }

private:
    void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) override;
    void on_packet(const media::Packet& packet, io::Deadline deadline) override;
    void on_sync(const media::SyncMessage& message, io::Deadline deadline) override;
    void on_gap() override { synced_.interrupt(); }
    void on_buffer(const media::Packet& next, std::vector<std::uint8_t> room) override {
        segmenter().give_buffer(next, std::move(room));
    }
    bool is_listed_already(std::uint64_t number) const { return relays() && number < listed_below_; }

    const Setup setup_;
    SegmentWriter& writer_;
    Log log_;
    SourceFeed feed_;
    SyncedSegmenter synced_;
    MediaTime shift_{};
    std::set<std::pair<MediaKind, media::TrackId>> configured_;  // tracks of this publisher, at most kTracksMax
    std::uint64_t listed_below_ = 0;
    std::uint64_t followed_from_ = 0;
    bool is_ending_ = false;
    bool is_over_ = false;
};

}  // namespace live::service::segments
