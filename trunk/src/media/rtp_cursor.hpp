// RtpCursor: a player's place in a source's RTP lane, and its hold on the lane. The lane lives, and a converter fills it where
// the publisher does not, while there is one of these. No queue and no copy: a number.
#pragma once

#include <cstdint>

#include "base/ref.hpp"
#include "base/signal.hpp"
#include "media/source.hpp"

namespace live::media {

class RtpCursor final : private RtpListener {
public:
    // At the newest key frame when there is one, else behind all packets so far; then a key frame is asked for.
    explicit RtpCursor(Ref<Source> source);
    ~RtpCursor();
    RtpCursor(const RtpCursor&) = delete;
    RtpCursor& operator=(const RtpCursor&) = delete;

    // The next packet, or nullptr when this player has seen all; the same until advance(). Valid until the source gets more.
    const RtpPacket* peek();
    void advance();
    // On to the newest key frame, if that is ahead; else behind all packets, and a key frame is asked for. Also done by peek()
    // when the lane dropped what this was at.
    void jump();

    // Raised after every batch of packets.
    Signal& readable() { return readable_; }
    RtpLane& lane() { return lane_; }
    Source& source() { return *source_; }
    Sequence next() const { return next_; }
    // Packets that were jumped over.
    std::uint64_t dropped() const { return dropped_; }

private:
    void on_rtp() override { readable_.raise(); }

    Ref<Source> source_;
    RtpLane& lane_;
    Signal readable_;
    Sequence next_;
    std::uint64_t dropped_ = 0;
};

}  // namespace live::media
