// OriginFollower: makes the same segments of a relayed stream as the node that has the publisher. It drives a segmenter with the
// stream's packets and with that node's sync messages, which arrive somewhat later than the packets they describe. Dry.
//
// Both nodes run the same segmenter. If the state at the beginning of a segment equals that in the sync message, there is nothing
// to do. Otherwise this node has joined, has lost packets, or the publisher has changed: the segmenter is set to the state in the
// message and segments the packets again from that segment's first frame on. A segment is emitted when the next sync message has
// confirmed it. A segment that differs is repaired, or dropped. A message that names a frame which has not arrived waits for it:
// this node may put the tracks of renditions into order later than the origin does.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "service/segments/held_events.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::segments {

class OriginFollower {
public:
    // Limits of the packets kept since the newest confirmed beginning of a segment. Older packets cannot be segmented again.
    static constexpr std::size_t kPacketsMax = 1U << 16;
    static constexpr std::size_t kBytesMax = 64U << 20;
    // Complete segments that wait for a sync message. One more means that the origin sends none.
    static constexpr std::size_t kUnconfirmedMax = 2;
    // Sync messages that wait for their frames.
    static constexpr std::size_t kEarlyMax = 16;
    // How long it waits, in media time, for the frame that a sync message names, or for the message at or after an end.
    static constexpr MediaTime kPatience = 30s;

    // `segmenter` must outlive this. Only this may use it.
    explicit OriginFollower(Segmenter& segmenter) : segmenter_(segmenter), held_(segmenter.events()) {}

    // Another origin: drops everything except the configurations, which the origin may not repeat.
    void restart();
    // Another connection, perhaps to the same origin. Its newest sync message precedes its packets. If it repeats packets of the
    // previous connection, nothing is missing and the open segment continues. Otherwise the same as restart().
    void reconnect();
    // Another publisher at the same origin, from the next packet on. Its packets may arrive before the sync message that ends the
    // last segment of the previous publisher.
    void begin_next();
    // The next packet, on the origin's timeline.
    void push(const media::Packet& packet);
    void push(const SegmentSync& sync);
    // Packets are missing before the next one. If the origin sends sync messages, the next one shows that.
    void interrupt();
    // Adds `by` to the times of the kept packets of this connection and publisher, because the origin's timeline differs from the
    // assumed one. A sync message must follow.
    void shift(MediaTime by);

    // Returns the confirmed events since the last call, in order.
    std::vector<SegmenterEvent> take() { return held_.take(); }

    // Reports whether this node is at the same segment as the origin. False before the first sync message.
    bool is_following() const { return state_ != State::alone && state_ != State::waiting; }
    // Reports whether another publisher has begun, and no message has ended the last segment of the previous one.
    bool has_next_publisher() const { return state_ == State::ending; }
    // Bytes of the kept packets.
    std::size_t bytes() const { return bytes_; }

private:
    enum class State : std::uint8_t {
        alone,      // the origin sends no sync messages: segments without waiting for confirmation
        following,  // the open segment is that of the newest sync message, or follows it
        ending,     // the same, but its publisher has left; the next publisher's packets are kept until a message ends it
        returning,  // the same, on another connection whose packets have not reached the segment of the pending message
        waiting,    // for the first frame of a segment and its tracks' formats; segments nothing until then
    };

    void dispatch(const SegmentSync& sync);
    bool is_early(const SegmentSync& sync) const;
    void dispatch_early(const media::Packet& packet);
    void handle(const SegmentState& state, const SegmentSync& sync);
    void handle(const SegmentsEnded& state);
    void end(const SegmentsEnded& state);
    void push_next();
    void handle_returning(const SegmentSync& sync);
    bool is_new(const media::Packet& packet);
    bool is_repeated(const media::Packet& packet);
    bool is_older(const media::Packet& packet) const;
    bool is_in_force(const media::Packet& config) const;
    bool continues(const media::Packet& packet) const;
    void try_to_arrive();
    void start_over();
    void collect();
    void note_opened(SegmentState state);
    bool remake(std::uint64_t frames);
    void resume(const SegmentSync& sync);
    void wait(std::optional<SegmentSync> pending);
    void go_alone();
    std::optional<std::size_t> find(const SegmentState& state) const;
    bool has_formats(const SegmentState& state, std::size_t at) const;
    std::vector<media::Packet> formats_for(const SegmentState& state, std::size_t at) const;
    void keep(const media::Packet& packet);
    void forget_before(std::size_t at);

    Segmenter& segmenter_;
    State state_ = State::alone;
    std::deque<media::Packet> packets_;
    std::size_t bytes_ = 0;
    std::size_t next_ = 0;                 // while ending: the number of packets that are the next publisher's
    std::optional<std::size_t> repeated_;  // while returning: the number of packets that this connection has repeated
    // The configurations in force before `packets_`.
    std::map<std::pair<MediaKind, media::TrackId>, media::Packet> configs_;
    std::deque<SegmentState> opened_;     // segments begun on this node; the first is the newest confirmed one
    std::optional<SegmentSync> pending_;  // while waiting or returning: its first frame has not arrived
    std::deque<SegmentSync> early_;       // while following: messages that wait for their frames, in order
    std::optional<MediaTime> waiting_from_;
    HeldEvents held_;
    std::uint64_t instance_ = 0;  // in the newest sync message whose segment this node has reached
};

}  // namespace live::service::segments
