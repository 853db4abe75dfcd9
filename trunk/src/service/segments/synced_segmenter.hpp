// SyncedSegmenter: a segmenter whose segments are the same on every node that has the stream. If the publisher is on this node,
// it publishes its segment boundaries as sync messages of the source. If this node relays the stream, it follows the sync
// messages of the node that has the publisher. The outputs of one kind ("hls", "dash") are a series and read only each other's
// messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log/log.hpp"
#include "media/source/source.hpp"
#include "service/segments/origin_follower.hpp"
#include "service/segments/segment_sync.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::segments {

class SyncedSegmenter {
public:
    struct Setup {
        std::string series;
        std::uint64_t rules = 0;  // a hash of the settings that decide the segments' bytes
        media::Source& source;    // must outlive this
        Log log;
    };
    SyncedSegmenter(Setup setup, Segmenter segmenter);
    SyncedSegmenter(const SyncedSegmenter&) = delete;
    SyncedSegmenter& operator=(const SyncedSegmenter&) = delete;

    // The publisher has left, or another one is about to start. The open segment of a relayed stream is not ended, because the
    // stream may continue. `relays_next`: the next publisher is another node, at the same origin unless a kRelayStart follows.
    void end_publisher(bool relays_next);
    // `relays`: the publisher is another node.
    void begin_publisher(bool relays);
    // The next packet, at its time on the node that has the publisher: to_origin() is added.
    void push(const media::Packet& packet) { follower_ ? follower_->push(packet) : segmenter_.push(packet); }
    // Packets are missing before the next one.
    void interrupt();

    // Returns the message's content, for follow(). None if it is of another series, or if the other node's settings differ, which
    // is logged.
    std::optional<SegmentSync> read(const media::SyncMessage& message);
    void follow(const SegmentSync& sync) { follower_->push(sync); }
    // As OriginFollower::shift(). Only while this node relays the stream.
    void shift(MediaTime by) { follower_->shift(by); }

    // Returns the events since the last call, in order. The caller must publish SegmentOpened and SegmentsEnded; neither is
    // emitted while this node relays the stream.
    std::vector<SegmenterEvent> take() { return follower_ ? follower_->take() : segmenter_.take(); }
    // Sends `event` and `list`, the numbers of the manifest's writer, to the other nodes.
    void publish(std::variant<SegmentState, SegmentsEnded> event, std::vector<std::uint64_t> list);

    bool relays() const { return follower_.has_value(); }
    bool is_following() const { return follower_ && follower_->is_following(); }
    bool has_next_publisher() const { return follower_ && follower_->has_next_publisher(); }
    // Added to a time of the source, gives the time on the node that has the publisher.
    MediaTime to_origin() const { return follower_ ? to_origin_ : MediaTime{}; }
    // Bytes of the packets that are kept to follow.
    std::size_t kept_bytes() const { return follower_ ? follower_->bytes() : 0; }
    Segmenter& segmenter() { return segmenter_; }
    const Segmenter& segmenter() const { return segmenter_; }

private:
    const Setup setup_;
    const std::uint64_t instance_;
    Segmenter segmenter_;
    std::optional<OriginFollower> follower_;  // while the publisher is another node
    MediaTime to_origin_{};
    bool has_sync_ = false;      // since the publisher, or the connection to it, started
    bool rules_logged_ = false;  // that the origin's settings differ
};

}  // namespace live::service::segments
