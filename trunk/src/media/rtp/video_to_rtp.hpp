// VideoToRtp: converts video packets to packets of an RTP log. Parameter sets precede each key frame. B-frames, which browsers do
// not reorder, are dropped unless an operator keeps them: for H.264 all of them, and its parameter sets are changed accordingly;
// for HEVC those not used for reference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "media/ring/options.hpp"
#include "media/ring/packet.hpp"
#include "media/rtp/picture_order.hpp"
#include "media/rtp/rtp_log.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/nal.hpp"

namespace live::media {

class VideoToRtp {
public:
    static constexpr std::uint32_t kClockRate = 90'000;
    // RTP payload bytes; the size WebRTC's own senders use, which fits every path with all headers.
    static constexpr std::size_t kPayloadBytesMax = 1'200;

    // A longer frame is dropped and logged: browsers buffer 2,048 packets of a frame and never show a longer one.
    static constexpr std::size_t kFrameBytesMax = 2'048 * 1'200;

    struct Counters {
        std::uint64_t frames = 0;            // converted to packets
        std::uint64_t dropped_b_frames = 0;  // dropped on purpose
    };

    // `rtp_log` and `log` outlive this.
    VideoToRtp(RtpLog& rtp_log, const BridgeOptions& options, const Log& log);

    // A video packet of the source, including sequence headers, in order. On error, Errc::malformed or Errc::limit, the packet is
    // left out.
    Result<void> push(const Packet& packet);
    const Counters& counters() const { return counters_; }
    // Whether B-frames arrived, dropped or not.
    bool has_b_frames() const { return has_b_frames_; }

private:
    Result<void> set_config(const Packet& packet);
    Result<void> take_avc_config(Bytes record);
    Result<void> take_hevc_config(Bytes record);
    void put_parameter_set(std::vector<std::uint8_t>& out, Bytes unit) const;
    void set_track(Codec codec, std::string format);
    // False if the frame is to be dropped.
    Result<bool> collect_nal_units(const Packet& packet, MediaTime shown);
    bool is_kept_message(Bytes unit) const;
    bool is_b_slice(Bytes unit) const;
    bool admit_b_frame(bool is_needed);
    Result<void> packetize(const Packet& packet);

    RtpLog& rtp_log_;
    BridgeOptions options_;
    const Log& log_;
    Codec codec_ = Codec::none;
    std::uint8_t nal_length_size_ = 4;
    std::vector<std::uint8_t> parameter_sets_;  // NAL: with lengths of four bytes; AV1: OBUs
    std::vector<std::uint8_t> frame_;           // output of the current access unit; kept for its memory
    wire::rtp_payload::PayloadList payloads_;   // kept for its memory
    PictureOrder order_;
    Counters counters_;
    std::uint16_t picture_id_ = 0;
    Codec refused_ = Codec::none;  // logged
    bool has_b_frames_ = false;
};

}  // namespace live::media
