// RtpToFrames: converts what an RTP publisher puts into its RTP log to frames on its source, for all outputs that are based on
// frames (RTMP, HTTP-FLV, HLS, recording, forwarding). The publisher's session owns one if rtc_to_rtmp is on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/log/log.hpp"
#include "media/ingest/ingest.hpp"
#include "media/rtp/rtp_to_audio.hpp"
#include "media/rtp/rtp_to_video.hpp"
#include "media/source/publication.hpp"

namespace live::media {

class RtpToFrames final : private RtpListener, private AudioListener {
public:
    // Minimum interval between two key frame requests.
    static constexpr std::chrono::milliseconds kKeyRequestInterval{500};

    // Takes packets added to the RTP log from now on, whenever it is flushed. `rtp_log` is the one that `publication` fills; all
    // arguments outlive this except `transcoders`, which may be nullptr. The bridge options are those of the source.
    RtpToFrames(Publication& publication, RtpLog& rtp_log, const PublishOptions& options, AudioTranscoders* transcoders,
                const Log& log);
    ~RtpToFrames();
    RtpToFrames(const RtpToFrames&) = delete;
    RtpToFrames& operator=(const RtpToFrames&) = delete;

    // No audio of the RTP log is still on its way to the source.
    bool is_idle() const { return !publication_.is_current() || audio_.is_idle(); }

    const RtpToVideo& video() const { return video_; }
    const RtpToAudio& audio() const { return audio_; }

private:
    void on_rtp() override;
    // Audio whose conversion ended after its batch was complete.
    void on_audio() override;
    void watch_tracks();
    void take(const RtpPacket& packet);
    void push_video();
    void push_audio();
    void push_metadata(MediaTime time);
    void care_for_key_frames(const RtpPacket& packet);

    Publication& publication_;
    RtpLog& rtp_log_;
    Ingest ingest_;
    RtpToVideo video_;
    RtpToAudio audio_;
    std::array<std::optional<RtpTrack>, 2> tracks_;  // by kind
    std::array<std::uint64_t, 2> sequences_{};       // of the newest packet, widened
    Sequence next_;
    std::chrono::milliseconds key_frame_period_;
    std::optional<TimePoint> key_frame_at_;  // when one arrived or was requested
    std::optional<std::uint32_t> version_;   // of the RTP log's tracks
    bool has_metadata_ = false;
};

}  // namespace live::media
