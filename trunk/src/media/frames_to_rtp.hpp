// FramesToRtp: fills the RTP RTP log of a source whose publisher sends frames. The source makes one while somebody holds the RTP
// log, and gives it every packet that it appends. An encoder on the other end of RTMP cannot be asked for a key frame, so nobody
// is.
#pragma once

#include "media/audio_to_rtp.hpp"
#include "media/video_to_rtp.hpp"

namespace live::media {

class FramesToRtp final : private AudioListener {
public:
    // All outlive this.
    FramesToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log);
    FramesToRtp(const FramesToRtp&) = delete;
    FramesToRtp& operator=(const FramesToRtp&) = delete;

    void push(const Packet& packet);
    // A batch is complete: the RTP log's listeners are told when it has got something.
    void flush();

    // Nothing of what was pushed is still to come.
    bool is_idle() const { return audio_.is_idle(); }

    const VideoToRtp& video() const { return video_; }
    const AudioToRtp& audio() const { return audio_; }

private:
    // Audio that was being converted when its batch was complete.
    void on_audio() override;

    RtpLog& rtp_log_;
    VideoToRtp video_;
    AudioToRtp audio_;
    Sequence told_;
};

}  // namespace live::media
