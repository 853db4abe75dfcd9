#include "media/rtp/frames_to_rtp.hpp"

#include "base/log/log_format.hpp"

namespace live::media {

FramesToRtp::FramesToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log)
    : rtp_log_(rtp_log),
      options_(options),
      log_(log),
      video_(rtp_log, options, log),
      audio_(rtp_log, options, transcoders, *this, log) {
    rtp_log_.start_writer(nullptr);
}

void FramesToRtp::push(const Packet& packet) {
    switch (packet.kind) {
        case MediaKind::audio: audio_.push(packet); break;
        case MediaKind::video:
            if (const auto pushed = video_.push(packet); !pushed.ok() && broken_frames_++ == 0)
                LOG_WARN(log_, "a frame could not be converted to RTP ({}); further ones are only counted",
                         pushed.error().text());
            break;
        case MediaKind::data: break;
    }
}

void FramesToRtp::set_tracks(const std::vector<TrackLayers::Track>& tracks, std::uint32_t version,
                             const TrackLayers::History& history) {
    tracks_version_ = version;
    if (!layers_ && tracks.size() < 2)
        return;
    if (!layers_)
        layers_.emplace(rtp_log_, history, options_, log_);
    layers_->set_tracks(tracks);
}

void FramesToRtp::on_audio() {
    audio_.collect();
    rtp_log_.flush();
}

}  // namespace live::media
