#include "media/rtp/frames_to_rtp.hpp"

namespace live::media {

FramesToRtp::FramesToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log)
    : rtp_log_(rtp_log), video_(rtp_log, options, log), audio_(rtp_log, options, transcoders, *this, log) {
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
    rtp_log_.flush();
}

}  // namespace live::media
