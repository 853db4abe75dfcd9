// VideoToRtp: packets of video become packets of a rtp_log. Parameter sets stand in front of each key frame. B-frames,
// which browsers do not put in order, are left out unless an operator keeps them: all of H.264, whose parameter sets are changed
// to allow for it, and of HEVC those that nothing is predicted from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/log.hpp"
#include "media/options.hpp"
#include "media/packet.hpp"
#include "media/picture_order.hpp"
#include "media/rtp_log.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/nal.hpp"

namespace live::media {

class VideoToRtp {
public:
    static constexpr std::uint32_t kClockRate = 90'000;
    // Of RTP payload; what WebRTC's own senders use, so that it fits every path with all that comes around it.
    static constexpr std::size_t kPayloadBytesMax = 1'200;

    // A longer frame is left out, with a sentence: browsers hold 2,048 packets of one, and show no longer one at all.
    static constexpr std::size_t kFrameBytesMax = 2'048 * 1'200;

    struct Counters {
        std::uint64_t frames = 0;            // that became packets
        std::uint64_t dropped_b_frames = 0;  // left out on purpose
        std::uint64_t broken = 0;            // bodies that could not be read
    };

    // `RTP log` and `log` outlive this.
    VideoToRtp(RtpLog& rtp_log, const BridgeOptions& options, const Log& log);

    // A video packet of the source, sequence headers too, in order.
    void push(const Packet& packet);
    const Counters& counters() const { return counters_; }
    // B-frames came, dropped or not.
    bool has_b_frames() const { return has_b_frames_; }

private:
    Result<void> convert(const Packet& packet);
    Result<void> set_config(const Packet& packet);
    Result<void> take_avc_config(Bytes record);
    Result<void> take_hevc_config(Bytes record);
    void put_parameter_set(std::vector<std::uint8_t>& out, Bytes unit) const;
    void set_track(Codec codec, std::string format);
    // Gives false when the frame is to be left out.
    Result<bool> collect_nal_units(const Packet& packet, MediaTime shown);
    bool is_kept_message(Bytes unit) const;
    bool is_b_slice(Bytes unit) const;
    bool admit_b_frame(bool is_needed);
    Result<void> packetize(const Packet& packet);
    void send(const Packet& packet, MediaTime time, bool is_key);

    RtpLog& rtp_log_;
    BridgeOptions options_;
    const Log& log_;
    Codec codec_ = Codec::none;
    std::uint8_t nal_length_size_ = 4;
    std::vector<std::uint8_t> parameter_sets_;  // NAL: behind lengths of four bytes; AV1: OBUs
    std::vector<std::uint8_t> frame_;           // what is being made of one access unit; kept for its memory
    wire::rtp_payload::PayloadList payloads_;   // kept, too
    PictureOrder order_;
    Counters counters_;
    std::uint16_t picture_id_ = 0;
    Codec refused_ = Codec::none;  // said in the log
    bool has_b_frames_ = false;
};

}  // namespace live::media
