// For tests: somebody who holds a source's RTP lane and reads it, as a player does.
#pragma once

#include "base/ref.hpp"
#include "base/signal.hpp"
#include "media/source.hpp"

namespace live::media {

class RtpReader final : private RtpListener {
public:
    // At the newest key frame when there is one, else behind all packets so far; then a key frame is asked for.
    explicit RtpReader(Ref<Source> source)
        : source_(std::move(source)), lane_(source_->hold_rtp_lane()), next_(lane_.gop_start().value_or(lane_.next())) {
        lane_.add_listener(*this);
        if (!lane_.gop_start())
            lane_.want_key_frame();
    }
    ~RtpReader() {
        lane_.remove_listener(*this);
        source_->release_rtp_lane();
    }
    RtpReader(const RtpReader&) = delete;
    RtpReader& operator=(const RtpReader&) = delete;

    // The next packet, or nullptr when all were seen; the same until advance().
    const RtpPacket* peek() const { return next_ < lane_.next() ? &lane_.at(next_) : nullptr; }
    void advance() { ++next_; }
    // Raised after every batch of packets.
    Signal& readable() { return readable_; }
    RtpLane& lane() { return lane_; }
    Sequence next() const { return next_; }

private:
    void on_rtp() override { readable_.raise(); }

    Ref<Source> source_;
    RtpLane& lane_;
    Signal readable_;
    Sequence next_;
};

}  // namespace live::media
