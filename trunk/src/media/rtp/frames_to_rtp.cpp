#include "media/rtp/frames_to_rtp.hpp"

namespace live::media {

FramesToRtp::FramesToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log)
    : rtp_log_(rtp_log),
      video_(rtp_log, options, log),
      audio_(rtp_log, options, transcoders, *this, log),
      notified_at_(rtp_log.next()) {
    rtp_log_.start_writer(nullptr);
}

void FramesToRtp::push(const Packet& packet) {
    switch (packet.kind) {
        case MediaKind::audio: audio_.push(packet); break;
        case MediaKind::video: video_.push(packet); break;
        case MediaKind::data: break;
    }
}

void FramesToRtp::on_audio() {
    audio_.collect();
    flush();
}

void FramesToRtp::flush() {
    if (notified_at_ == rtp_log_.next())
        return;
    notified_at_ = rtp_log_.next();
    rtp_log_.flush();
}

}  // namespace live::media
