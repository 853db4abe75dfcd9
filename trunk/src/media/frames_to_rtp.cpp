#include "media/frames_to_rtp.hpp"

namespace live::media {

FramesToRtp::FramesToRtp(RtpLane& lane, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log)
    : lane_(lane), video_(lane, options, log), audio_(lane, options, transcoders, *this, log), told_(lane.next()) {
    lane_.start_writer(nullptr);
}

void FramesToRtp::push(const Packet& packet) {
    switch (packet.kind) {
        case Kind::audio: audio_.push(packet); break;
        case Kind::video: video_.push(packet); break;
        case Kind::data: break;
    }
}

void FramesToRtp::on_sound() {
    audio_.collect();
    flush();
}

void FramesToRtp::flush() {
    if (told_ == lane_.next())
        return;
    told_ = lane_.next();
    lane_.flush();
}

}  // namespace live::media
