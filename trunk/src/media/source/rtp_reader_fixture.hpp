// For tests: holds and reads a source's RTP log, as a player does.
#pragma once

#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "media/source/source.hpp"

namespace live::media {

class RtpReader final : private RtpListener {
public:
    // At the newest key frame if there is one, else after all packets so far; then a key frame is requested.
    explicit RtpReader(Ref<Source> source)
        : source_(std::move(source)),
          rtp_log_(source_->rtp_logs().hold()),
          next_(rtp_log_.gop_start().value_or(rtp_log_.next())) {
        rtp_log_.add_listener(*this);
        if (!rtp_log_.gop_start())
            rtp_log_.want_key_frame();
    }
    ~RtpReader() {
        rtp_log_.remove_listener(*this);
        source_->rtp_logs().release();
    }
    RtpReader(const RtpReader&) = delete;
    RtpReader& operator=(const RtpReader&) = delete;

    // The next packet, or nullptr after the last; the same one until advance().
    const RtpPacket* peek() const { return next_ < rtp_log_.next() ? &rtp_log_.at(next_) : nullptr; }
    void advance() { ++next_; }
    // Raised after every batch of packets.
    Signal& readable() { return readable_; }
    RtpLog& rtp_log() { return rtp_log_; }
    Sequence next() const { return next_; }

private:
    void on_rtp() override { readable_.raise(); }

    Ref<Source> source_;
    RtpLog& rtp_log_;
    Signal readable_;
    Sequence next_;
};

}  // namespace live::media
