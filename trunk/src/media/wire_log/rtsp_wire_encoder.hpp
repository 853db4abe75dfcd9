// RtspWireEncoder: packets as RTP in interleaved frames (RFC 2326, 10.12), so that all players of a stream over RTSP send the
// same bytes. Players over UDP send the packets in the frames. Parameter sets and sender reports precede each key frame, where
// players join. Sequence numbers and the clock are the same for every reader.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "media/wire_log/container.hpp"
#include "media/wire_log/rtsp_track.hpp"
#include "media/wire_log/wire_log.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::media {

class RtspWireEncoder final : public WireEncoder {
public:
    // With all headers a packet fits an Ethernet frame, over IPv6 and in a tunnel too.
    static constexpr std::size_t kPayloadBytesMax = 1'400;
    // The SSRC of audio; video has the next one. Unique within the session of a track, which has one sender.
    static constexpr std::uint32_t kSsrcBase = 0x4D52'0001;
    // Between two sender reports of a stream without key frames.
    static constexpr MediaTime kReportInterval = std::chrono::seconds(5);

    RtspWireEncoder(RtspLayout layout, const EncoderSetup& setup);

    WireTimes times() const override { return WireTimes::shared; }
    // Packets of other kinds, and those that RTP does not carry, are dropped.
    Encoded encode(const Packet& packet, SlabLog& log) override;
    bool append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const override { return false; }
    void append_own_message(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const override {}

private:
    struct Track {
        explicit Track(const RtspTrack& of) : format(of) {}

        RtspTrack format;
        std::uint16_t sequence = 0;  // of the next packet
        std::uint32_t packets = 0;
        std::uint32_t payload_bytes = 0;
        std::uint32_t next_timestamp = 0;  // of audio, if no sample is missing
        bool has_sent = false;
    };

    void set_config(const Packet& packet);
    Track* track_for(const Packet& packet);
    std::uint32_t timestamp_of(const Packet& packet, Track& track) const;
    Result<void> packetize(const Packet& packet);
    Result<void> packetize_nal(const Packet& packet);
    void append_packets(const Track& track, std::uint32_t timestamp, SlabLog& log);
    void append_reports(MediaTime time, SlabLog& log);

    RtspLayout layout_;
    MediaKindSet kinds_;
    MediaTime unix_at_zero_;
    std::array<std::optional<Track>, 2> tracks_;        // by kind
    std::array<std::vector<std::uint8_t>, 2> configs_;  // by kind; of their default tracks
    std::uint8_t nal_length_size_ = 4;
    std::vector<std::uint8_t> parameter_sets_;  // with lengths of four bytes
    std::vector<std::uint8_t> frame_;           // scratch, kept for its memory
    wire::rtp_payload::PayloadList payloads_;   // the same
    std::optional<MediaTime> reported_at_;
    std::uint16_t picture_id_ = 0;
};

std::unique_ptr<WireEncoder> make_rtsp_encoder(const EncoderSetup& setup);
std::unique_ptr<WireEncoder> make_rtsp_audio_encoder(const EncoderSetup& setup);
inline constexpr Container kRtsp{make_rtsp_encoder};
inline constexpr Container kRtspAudioOnly{make_rtsp_audio_encoder};

}  // namespace live::media
