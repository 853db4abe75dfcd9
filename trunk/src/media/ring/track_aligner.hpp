// TrackAligner: puts the packets of a stream with renditions into the order of their times. A rendition is encoded from the
// stream and arrives late; the segmenter cuts all tracks at the key frames of the default video, so that it needs the frames
// before a cut before the cut. Packets wait here until every rendition has reached their time. A stream without renditions passes
// at once. Nodes that get the same packets in the same order release them in the same order. Dry.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

class TrackAligner {
public:
    // A rendition that is further behind the default video than this is not waited for.
    static constexpr MediaTime kLagMax = 6s;
    // Bytes of packets that wait. Beyond it all are released.
    static constexpr std::size_t kBytesMax = 64U << 20;

    // Renditions of the stream, as its source lists them when a packet arrives.
    struct Renditions {
        // Those that are announced. The stream waits for their first frames.
        std::size_t expected = 0;
        std::size_t present = 0;
        // Whether the packet belongs to one of them.
        bool has_packet = false;
    };
    void push(const Packet& packet, const Renditions& renditions);
    // The next packet in order. nullopt: more packets are needed.
    std::optional<Packet> pop();
    // Releases all packets: the publisher has left, or packets are missing.
    void flush() { flushes_ = true; }
    // Another publisher follows, or another connection to it. Drops the packets that wait.
    void restart();

    // Whether packets pass at once.
    bool is_idle() const { return !is_active_ && bytes_ == 0 && ready_.empty(); }
    std::size_t bytes() const { return bytes_; }

private:
    struct Queue {
        MediaKind kind = MediaKind::video;
        TrackId id{};
        bool is_rendition = false;
        bool is_late = false;  // its packets are left out until a key frame that is in time
        bool has_frames = false;
        MediaTime newest{};  // of its frames
        std::deque<Packet> packets;
    };

    Queue& queue_of(const Packet& packet, bool is_rendition);
    bool is_awaited(const Queue& queue) const;
    bool may_release(MediaTime at) const;
    bool note_time(Queue& queue, const Packet& packet);

    std::vector<Queue> queues_;
    std::deque<Packet> ready_;
    std::size_t bytes_ = 0;
    MediaTime newest_{};                 // of the stream's own tracks
    std::optional<MediaTime> first_;     // of the stream's own packets since renditions are expected
    std::optional<MediaTime> position_;  // of the newest released packet
    std::size_t missing_ = 0;            // renditions without a frame so far
    bool is_active_ = false;
    bool flushes_ = false;
};

}  // namespace live::media
