// SingleNalLog: a copy of an RTP log for players that accept H.264 only in packetization-mode 0 (RFC 6184, 6.2): each packet is
// one NAL unit. Aggregation packets are split; a NAL unit longer than a packet is dropped, which is logged once. Everything else
// passes unchanged. It exists next to the shared RTP log while somebody needs it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/log/log.hpp"
#include "media/rtp/rtp_log.hpp"

namespace live::media {

class SingleNalLog final : private RtpListener, private KeyFrameSource {
public:
    // Starts with the newest GOP of `from`, which outlives this.
    SingleNalLog(RtpLog& from, const Log& log);
    ~SingleNalLog();
    SingleNalLog(const SingleNalLog&) = delete;
    SingleNalLog& operator=(const SingleNalLog&) = delete;

    RtpLog& rtp_log() { return rtp_log_; }
    // NAL units that were too long and dropped.
    std::uint64_t left_out() const { return left_out_; }

private:
    void on_rtp() override;
    void on_key_frame_wanted() override { from_.want_key_frame(); }
    void take_tracks();
    void take(const RtpPacket& packet);
    void take_aggregate(const RtpPacket& packet);
    void leave_out(const RtpPacket& packet);
    void hold(RtpPacket packet);
    void release();

    RtpLog& from_;
    const Log log_;
    RtpLog rtp_log_;
    Sequence next_;
    std::uint32_t version_ = 0;
    std::uint32_t writer_ = 0;
    bool is_avc_ = false;
    // The newest packet: if the packets after it are dropped, it may be the last of its frame.
    std::optional<RtpPacket> held_;
    // Flags of a dropped packet that the next packet has to carry.
    std::optional<std::uint32_t> key_timestamp_;
    bool follows_loss_ = false;
    std::uint64_t left_out_ = 0;
};

}  // namespace live::media
