// MarkedSegmenter: a segmenter of which every node that has the stream makes the same segments. With a publisher on this node,
// what it does is put into the source as marks; for a stream that this node relays, it follows the marks of the node that has the
// publisher. The outputs of one kind ("hls", "dash") are a series, and understand each other's marks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log/log.hpp"
#include "media/source/source.hpp"
#include "service/segments/follower.hpp"
#include "service/segments/mark.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::segments {

class MarkedSegmenter {
public:
    struct Setup {
        std::string series;
        std::uint64_t rules = 0;  // a hash of what the settings decide
        media::Source& source;    // outlives this
        Log log;
    };
    // What the next call of tell() is due for: SegmentOpened and SegmentsEnded; neither comes while it follows.
    using Event = std::variant<Made, Follower::Resumed, SegmentsEnded>;

    MarkedSegmenter(Setup setup, Segmenter segmenter);
    MarkedSegmenter(const MarkedSegmenter&) = delete;
    MarkedSegmenter& operator=(const MarkedSegmenter&) = delete;

    // The publisher has left, or another one is about to begin. A relayed stream is not cut short: it may go on. `relays_next`:
    // the next publisher is another node, at the same origin unless a mark says otherwise (media::kRelayStart).
    void end_publisher(bool relays_next);
    // `relays`: the publisher is another node.
    void begin_publisher(bool relays);
    // The next packet, on the source's timeline; no mark.
    void push(const media::Packet& packet);
    // Packets are missing before the next one.
    void interrupt();

    // Reads a mark; none when it is of another series, or of a node with other settings, which is logged. follow() comes next.
    std::optional<Mark> read(const media::Packet& packet);
    void follow(const Mark& mark) { follower_->push(mark); }
    // As of Follower. Only while it relays.
    void shift(MediaTime by) { follower_->shift(by); }

    // Events in order.
    std::vector<Event> take();
    // Puts a mark into the source. `list`: what the manifest's writer adds.
    void tell(std::variant<SegmentState, SegmentsEnded> what, std::vector<std::uint64_t> list);

    bool relays() const { return follower_.has_value(); }
    bool is_following() const { return follower_ && follower_->is_following(); }
    // Added to a time of the source, gives that on the node with the publisher.
    MediaTime to_origin() const { return follower_ ? to_origin_ : MediaTime{}; }
    // Packets kept to follow.
    std::size_t kept_bytes() const { return follower_ ? follower_->bytes() : 0; }
    // For its layout and its numbers.
    Segmenter& segmenter() { return segmenter_; }
    const Segmenter& segmenter() const { return segmenter_; }

private:
    void collect();

    const Setup setup_;
    const std::uint64_t instance_;
    Segmenter segmenter_;
    std::optional<Follower> follower_;  // while the publisher is another node
    MediaTime to_origin_{};
    bool has_mark_ = false;  // since the publisher, or the connection to it, began
    std::vector<Event> events_;
    bool rules_logged_ = false;  // the origin's other settings have been logged
};

}  // namespace live::service::segments
