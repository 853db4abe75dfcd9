// Cursor: a reader's place in a source's ring, packet by packet. For readers that do something of their own with each packet
// (forwarding, recording); players of a wire format use WireCursor. No queue and no copy: a sequence number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ref.hpp"
#include "base/signal.hpp"
#include "media/source.hpp"

namespace live::media {

class Cursor final : private PacketListener, private PacketReader {
public:
    // At the source's join point, or behind all that was published so far.
    enum class Start : bool { join_point, now };

    // All tracks, or the default ones only.
    enum class Tracks : bool { defaults, all };

    explicit Cursor(Ref<Source> source, Listens how = Listens::at_once, Start start = Start::join_point,
                    Tracks tracks = Tracks::defaults);
    ~Cursor();
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;

    // The next packet, or none when this reader has seen all. When metadata or sequence headers changed since the last packet
    // taken (and before the first one) they come first, stamped with the time of the packet that follows.
    std::optional<Packet> take();
    // What take() is at in the source's ring, metadata and sequence headers aside: behind what it leaves out.
    Sequence next() {
        skip_left_out();
        return next_;
    }
    // Raised after every batch of packets.
    Signal& readable() { return readable_; }
    std::uint64_t dropped() const { return dropped_; }
    // Whether somebody watches what this reader makes; at first it is taken for that.
    enum class Audience : bool { none, some };
    void set_audience(Audience audience) { audience_ = audience; }
    Source& source() { return *source_; }

private:
    void on_packets() override { readable_.raise(); }
    Sequence sequence() const override { return next_; }
    void jump(Sequence to) override;
    bool is_watched() const override { return audience_ == Audience::some; }
    void introduce();
    void skip_left_out();

    Ref<Source> source_;
    Signal readable_;
    std::vector<Packet> first_;  // metadata and sequence headers still to be handed out, last first
    Sequence next_;
    std::uint64_t dropped_ = 0;
    Audience audience_ = Audience::some;
    Tracks tracks_;
};

}  // namespace live::media
