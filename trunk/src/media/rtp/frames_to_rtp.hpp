// FramesToRtp: fills the RTP log of a source whose publisher sends frames. The source creates one while the RTP log is held and
// gives it every packet it appends. RTMP has no key frame requests, so those of players are ignored.
#pragma once

#include "media/rtp/audio_to_rtp.hpp"
#include "media/rtp/video_to_rtp.hpp"

namespace live::media {

class FramesToRtp final : private AudioListener {
public:
    // All arguments outlive this.
    FramesToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log);
    FramesToRtp(const FramesToRtp&) = delete;
    FramesToRtp& operator=(const FramesToRtp&) = delete;

    void push(const Packet& packet);

    // Reports whether the conversion of everything that was pushed is complete.
    bool is_idle() const { return audio_.is_idle(); }

    const VideoToRtp& video() const { return video_; }
    const AudioToRtp& audio() const { return audio_; }

private:
    // Audio whose conversion ended after its batch was complete.
    void on_audio() override;

    RtpLog& rtp_log_;
    VideoToRtp video_;
    AudioToRtp audio_;
};

}  // namespace live::media
