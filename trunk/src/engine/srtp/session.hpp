// Protection of RTP and RTCP (RFC 3711; RFC 7714 for AES-GCM), both directions of one session, independent of the origin of its
// keys. All of it is done by the SRTP library except, with AES-GCM, sending RTP (GcmSender) and the RTCP of sessions that receive
// no RTP (GcmControl).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/srtp/gcm_control.hpp"
#include "engine/srtp/gcm_sender.hpp"
#include "engine/srtp/keys.hpp"

struct srtp_ctx_t_;

namespace live::engine::srtp {

class Session {
    struct Private {};

public:
    // Room that protecting an RTP or RTCP packet may need after it.
    static constexpr std::size_t kTrailerBytesMax = 16 + 4 + 12;
    // Size of a sent RTP packet, header and payload.
    static constexpr std::size_t kRtpBytesMax = 1'500;
    // How late a packet may arrive, or be retransmitted under its own number, in packets: one bit per packet and stream.
    static constexpr unsigned long kReplayWindow = 128;

    // Incoming streams, by SSRC: the library keeps keys and a window for each, and searches them linearly.
    static constexpr std::size_t kInboundStreamsMax = 32;

    // Initializes the library, at the latest with the first session: its self-test takes some milliseconds, once per process.
    // Errc::system on failure.
    static Result<void> begin_library();
    enum class Receives : std::uint8_t { rtp_and_rtcp, rtcp };
    // `replay_window` applies to RTP, in both directions. Errc::malformed, Errc::system if the library fails.
    static Result<std::unique_ptr<Session>> create(const Keys& keys, unsigned long replay_window = kReplayWindow,
                                                   Receives receives = Receives::rtp_and_rtcp);
    explicit Session(Private) {}
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // The packet is `head`, the whole RTP header and possibly part of the payload, followed by `payload`. Writes into `out`,
    // which must have room for both and kTrailerBytesMax. Returns the length. A packet may be protected again under the same
    // sequence number only with the same content: other content breaks the key. Errc::malformed, Errc::limit beyond kRtpBytesMax,
    // Errc::system.
    Result<std::size_t> protect_rtp(MutBytes out, Bytes head, Bytes payload);
    // In place: the packet is the first `bytes` of `storage`, which has kTrailerBytesMax more. Returns the length.
    // Errc::malformed, Errc::system.
    Result<std::size_t> protect_rtcp(MutBytes storage, std::size_t bytes);

    // In place; returns the length of the unprotected packet. Errc::denied if it is not authentic, Errc::conflict if it is a
    // replay or older than kReplayWindow, Errc::limit for more than kInboundStreamsMax streams (unread), Errc::malformed,
    // Errc::unsupported for RTP in a session of Receives::rtcp.
    Result<std::size_t> unprotect_rtp(MutBytes packet);
    Result<std::size_t> unprotect_rtcp(MutBytes packet);

    // The memory protect_rtp() uses.
    void add_hot_lines(HotLines& lines) const {
        lines.add(this, sizeof *this);
        if (sender_)
            sender_->add_hot_lines(lines);
    }

private:
    Result<void> check_stream(std::uint32_t ssrc) const;
    void remember_stream(std::uint32_t ssrc);

    srtp_ctx_t_* outbound_ = nullptr;  // of the library, unless there is a `control_`
    srtp_ctx_t_* inbound_ = nullptr;
    std::vector<std::uint32_t> inbound_ssrcs_;  // at most kInboundStreamsMax
    std::optional<GcmSender> sender_;           // with AES-GCM
    std::optional<GcmControl> control_;         // with AES-GCM and Receives::rtcp
};

}  // namespace live::engine::srtp
