// RtpTrackReader: converts the RTP packets of one described track to frames for an Ingest: each codec unchanged, with its decoder
// configuration first. RTSP publishers and cameras have one for each track.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "base/log/log.hpp"
#include "media/rtp/frame_blocks.hpp"
#include "media/rtp/rtp_to_video.hpp"
#include "wire/codec/frame.hpp"
#include "wire/rtp_payload/aac.hpp"
#include "wire/rtp_payload/ac3.hpp"
#include "wire/rtp_payload/latm.hpp"
#include "wire/rtp_payload/mpeg_audio.hpp"

namespace live::media {

class RtpTrackReader {
public:
    // As a session description has it.
    struct Format {
        MediaKind kind = MediaKind::video;
        Codec codec = Codec::none;
        std::uint32_t clock_rate = 90'000;
        std::uint8_t channels = 1;
        std::vector<std::vector<std::uint8_t>> parameter_sets{};  // of H.264 and HEVC
        // AAC: its configuration, in LATM the StreamMuxConfig, empty if in the stream. Codec::rtp_data: its description.
        std::vector<std::uint8_t> config{};
        wire::rtp_payload::AacHeaderBits aac{};
        bool is_latm = false;  // of AAC
    };

    // Errc::unsupported for another codec, and the errors of a configuration that cannot be parsed. `log` outlives this.
    static Result<void> check(const Format& format);
    // For a format that has passed check().
    RtpTrackReader(const Format& format, const Log& log);

    // The next packet in order, whose first frame is at `time`.
    void push(const wire::rtp_payload::Fragment& packet, MediaTime time);
    std::optional<wire::codec::Frame> poll();
    MediaKind kind() const { return format_.kind; }
    Codec codec() const { return format_.codec; }

private:
    // Audio whose packets are its frames, and data.
    struct Whole {};
    using Audio = std::variant<Whole, wire::rtp_payload::AacDepacketizer, wire::rtp_payload::LatmDepacketizer,
                               wire::rtp_payload::Ac3Depacketizer, wire::rtp_payload::MpegAudioDepacketizer>;

    static Result<Audio> make_audio(const Format& format);
    void push_audio(const wire::rtp_payload::Fragment& packet, MediaTime time);
    void emit_config(MediaTime time);
    void emit(Content content, Bytes data, MediaTime time, bool key = false);

    Format format_;
    RtpToVideo video_;
    Audio audio_;
    FrameBlocks blocks_;
    std::deque<wire::codec::Frame> frames_;  // of audio and data
    std::vector<std::uint8_t> config_;       // the newest one that was emitted
};

}  // namespace live::media
