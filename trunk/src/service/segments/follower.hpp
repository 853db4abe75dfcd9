// Follower: makes the segments of a relayed stream the same as on the node that has the publisher. It drives a segmenter with the
// stream's packets, and with that node's marks, which arrive somewhat later than the packets they are about. Dry.
//
// Both nodes run the same segmenter. As long as the state at the beginning of a segment is the one that the mark names, nothing
// needs to be done. Where it is not (this node has joined, has lost packets, or the publisher has changed), the segmenter is set
// to the marked state, and takes the packets from that segment's first frame on again. A segment is handed out once the next mark
// has confirmed it; one that differs is repaired, or dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "service/segments/mark.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::segments {

class Follower {
public:
    // Packets kept since the newest confirmed beginning of a segment; older ones are forgotten, and then cannot be taken again.
    static constexpr std::size_t kPacketsMax = 1U << 16;
    static constexpr std::size_t kBytesMax = 64U << 20;
    // Complete segments that wait for a mark. One more means that there are no marks any more.
    static constexpr std::size_t kUnconfirmedMax = 2;
    // How long it waits, in media time, for the frame that a mark names, or for the mark at or after an end.
    static constexpr MediaTime kPatience = 30s;

    // `segmenter` outlives this, and is used by this only.
    explicit Follower(Segmenter& segmenter) : segmenter_(segmenter) {}

    // Another origin: forgets everything but the configurations, which may not be repeated.
    void restart();
    // Another connection, perhaps to the same origin, whose newest mark comes before its packets. It repeats some of those that
    // were here before: then nothing is missing, and the open segment goes on. Otherwise the same as restart().
    void reconnect();
    // Another publisher at the same origin, from the next packet on. It may have overtaken the mark that ends the segment of the
    // one before.
    void begin_next();
    // The next packet, on the origin's timeline.
    void push(const media::Packet& packet);
    void push(const Mark& mark);
    // Packets are missing before the next one. Where there are marks, the next one shows that.
    void interrupt();
    // Adds this to the times of this connection's and publisher's packets that are kept: the origin's timeline is another one
    // than was assumed. A mark follows.
    void shift(MediaTime by);

    // Where segments go on: the next events belong to the segment of this mark, which is not the one that follows the last
    // segment handed out.
    struct Resumed {
        Mark mark;
        bool is_same_instance = false;  // as that of the mark resumed before
    };
    using Event = std::variant<Made, Resumed>;
    // Events that may be handed out, in order.
    std::vector<Event> take();

    // Marks have arrived, and this node is at the same segment: false also before the first mark.
    bool is_following() const { return state_ != State::alone && state_ != State::waiting; }
    // Kept packets.
    std::size_t bytes() const { return bytes_; }

private:
    enum class State : std::uint8_t {
        alone,      // no marks: like any other segmenter
        following,  // the open segment is that of the newest mark, or follows it
        ending,     // the same, of a publisher that has left; the next one's packets are kept until a mark ends it
        returning,  // the same, on another connection that has not reached its mark's segment here: that mark is pending
        waiting,    // for the frame with which a marked segment begins, and its tracks' formats; nothing is segmented until then
    };

    void handle(const SegmentState& said, const Mark& mark);
    void handle(const SegmentsEnded& said);
    void end(const SegmentsEnded& said);
    void push_next();
    void handle_returning(const Mark& mark);
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
    bool leave_out(const std::vector<std::size_t>& parts, std::size_t from);
    void forget_events(std::uint64_t number);
    bool is_unconfirmed(const Event& event) const;
    void drop_unconfirmed();
    void resume(const Mark& mark);
    void wait(std::optional<Mark> pending);
    void go_alone();
    void hand_out_all();
    void hand_out(Event event);
    std::optional<std::size_t> find(const SegmentState& said) const;
    bool has_formats(const SegmentState& said, std::size_t at) const;
    std::vector<media::Packet> formats_for(const SegmentState& said, std::size_t at) const;
    void keep(const media::Packet& packet);
    void forget_before(std::size_t at);

    Segmenter& segmenter_;
    State state_ = State::alone;
    std::deque<media::Packet> packets_;
    std::size_t bytes_ = 0;
    std::size_t next_ = 0;                 // while ending: that many of the packets are the next publisher's
    std::optional<std::size_t> repeated_;  // while returning: that many of the packets have been repeated; none has been
    // Configurations before `packets_`.
    std::map<std::pair<MediaKind, media::TrackId>, media::Packet> configs_;
    std::deque<SegmentState> opened_;  // segments begun here since the newest confirmed one, which is the first
    std::optional<Mark> pending_;      // while waiting or returning: its first frame has not arrived
    std::optional<MediaTime> waiting_from_;
    std::deque<Event> queue_;
    std::vector<Event> ready_;               // taken from the queue
    std::uint64_t confirmed_ = 0;            // segments below this number may be handed out
    std::uint64_t handed_number_ = 0;        // the newest segment of which parts were handed out
    std::vector<std::size_t> handed_parts_;  // their bytes
    std::uint64_t instance_ = 0;             // of the newest mark at whose segment this node was
};

}  // namespace live::service::segments
