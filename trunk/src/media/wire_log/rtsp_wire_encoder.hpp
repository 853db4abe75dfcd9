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
#include "media/wire_log/track_list.hpp"
#include "media/wire_log/wire_log.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::media {

class RtspWireEncoder final : public WireEncoder {
public:
    // With all headers a packet fits an Ethernet frame, over IPv6 and in a tunnel too.
    static constexpr std::size_t kPayloadBytesMax = 1'400;
    // The SSRC of the first track of a description; the next one has the next. Unique within the session of a track, which has
    // one sender.
    static constexpr std::uint32_t kSsrcBase = 0x4D52'0001;
    // Between two sender reports of a stream without key frames.
    static constexpr MediaTime kReportInterval = std::chrono::seconds(5);

    explicit RtspWireEncoder(const EncoderSetup& setup);

    WireTimes times() const override { return WireTimes::shared; }
    // Packets of tracks that are not set up, and those that RTP does not carry, are dropped.
    Encoded encode(const Packet& packet, SlabLog& log) override;
    bool append_own_header(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const override { return false; }
    void append_own_message(const Packet&, std::int64_t, std::vector<std::uint8_t>&) const override {}

private:
    struct Track {
        std::optional<RtspTrack> format;  // nullopt before a usable configuration
        std::vector<std::uint8_t> config;
        std::uint8_t nal_length_size = 4;
        std::vector<std::uint8_t> parameter_sets;  // with lengths of four bytes
        std::uint16_t picture_id = 0;
        std::uint16_t sequence = 0;  // of the next packet
        std::uint32_t packets = 0;
        std::uint32_t payload_bytes = 0;
        std::uint32_t next_timestamp = 0;  // of audio, if no sample is missing
        bool has_sent = false;
    };

    void set_config(std::size_t place, const Packet& packet);
    Track* track_for(std::size_t place, const Packet& packet);
    static std::uint32_t timestamp_of(const Packet& packet, Track& track);
    Result<void> packetize(const Packet& packet, Track& track);
    Result<void> packetize_nal(const Packet& packet, const Track& track);
    void append_packets(std::size_t place, const Packet& packet, std::uint32_t timestamp, SlabLog& log);
    void append_reports(MediaTime time, SlabLog& log);

    const TrackList list_;
    MediaTime unix_at_zero_;
    std::array<Track, TrackList::kMax> tracks_;  // by place
    std::vector<std::uint8_t> frame_;            // scratch, kept for its memory
    wire::rtp_payload::PayloadList payloads_;    // the same
    std::optional<MediaTime> reported_at_;
};

std::unique_ptr<WireEncoder> make_rtsp_encoder(const EncoderSetup& setup);
// Needs a WireFormat::list, and TrackSelection::every.
inline constexpr Container kRtsp{make_rtsp_encoder};

}  // namespace live::media
