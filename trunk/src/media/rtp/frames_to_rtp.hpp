// FramesToRtp: fills the RTP log of a source whose publisher sends frames. The source creates one while the RTP log is held and
// gives it every packet it appends. RTMP has no key frame requests, so those of players are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/log/log.hpp"
#include "media/rtp/audio_to_rtp.hpp"
#include "media/rtp/track_layers.hpp"
#include "media/rtp/video_to_rtp.hpp"

namespace live::media {

class FramesToRtp final : private AudioListener {
public:
    // All arguments outlive this.
    FramesToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log);
    FramesToRtp(const FramesToRtp&) = delete;
    FramesToRtp& operator=(const FramesToRtp&) = delete;
    ~FramesToRtp() { rtp_log_.end_writer(nullptr); }

    void push(const Packet& packet);

    // The video tracks among which players of this log may change: the track of the log first. `version` is a number of the list.
    void set_tracks(const std::vector<TrackLayers::Track>& tracks, std::uint32_t version, const TrackLayers::History& history);
    std::optional<std::uint32_t> tracks_version() const { return tracks_version_; }
    // nullptr while there is only one track.
    TrackLayers* layers() { return layers_ ? &*layers_ : nullptr; }

    // Reports whether the conversion of everything that was pushed is complete.
    bool is_idle() const { return audio_.is_idle(); }

    const VideoToRtp& video() const { return video_; }
    const AudioToRtp& audio() const { return audio_; }

private:
    // Audio whose conversion ended after its batch was complete.
    void on_audio() override;

    RtpLog& rtp_log_;
    const BridgeOptions options_;
    const Log& log_;
    VideoToRtp video_;
    AudioToRtp audio_;
    std::optional<TrackLayers> layers_;
    std::optional<std::uint32_t> tracks_version_;
    std::uint64_t broken_frames_ = 0;  // that could not be converted
};

}  // namespace live::media
