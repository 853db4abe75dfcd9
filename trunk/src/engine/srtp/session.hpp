// Protection of RTP and RTCP (RFC 3711; RFC 7714 for AES-GCM), both directions of one session. It does not know where its keys
// come from. All of it is the SRTP library's except RTP that is sent with AES-GCM, see GcmSender.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/srtp/gcm_sender.hpp"
#include "engine/srtp/keys.hpp"

struct srtp_ctx_t_;

namespace live::engine::srtp {

class Session {
    struct Private {};

public:
    // Room that protecting a packet of RTP, or of RTCP, may need behind it.
    static constexpr std::size_t kTrailerBytesMax = 16 + 4 + 12;
    // Of RTP that is sent, header and payload.
    static constexpr std::size_t kRtpBytesMax = 1'500;
    // Packets that may come late, or be sent again under their own number: one bit of each stream for each.
    static constexpr unsigned long kReplayWindow = 128;

    // Streams, by SSRC, that may come: the library keeps keys and a window for each, and looks for them one by one.
    static constexpr std::size_t kInboundStreamsMax = 32;

    // Before the first session, which does it where nobody has: the library tries itself, for some milliseconds, once in a
    // process. Errc::system when it does not work.
    static Result<void> begin_library();
    // `replay_window` is for both directions. Errc::system when the library refuses.
    static Result<std::unique_ptr<Session>> create(const Keys& keys, unsigned long replay_window = kReplayWindow);
    Session(Private, srtp_ctx_t_* outbound, srtp_ctx_t_* inbound) : outbound_(outbound), inbound_(inbound) {}
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // The packet is `head`, all of RTP's header and perhaps some of the payload, with `payload` behind it; into `out`, which has
    // room for both and kTrailerBytesMax. How long it is then. A packet may be protected again under the same number only with
    // the same content: another breaks the key. Errc::malformed, Errc::limit beyond kRtpBytesMax, Errc::system.
    Result<std::size_t> protect_rtp(MutBytes out, Bytes head, Bytes payload);
    // In place: the packet is the first `bytes` of `storage`, which has kTrailerBytesMax more. How long it is then.
    // Errc::malformed, Errc::system.
    Result<std::size_t> protect_rtcp(MutBytes storage, std::size_t bytes);

    // In place; how long the packet is without protection. Errc::denied when it is not authentic, Errc::conflict when it came
    // before or is too old to tell, Errc::limit for one stream more than kInboundStreamsMax (unread), Errc::malformed.
    Result<std::size_t> unprotect_rtp(MutBytes packet);
    Result<std::size_t> unprotect_rtcp(MutBytes packet);

    // What protect_rtp() touches.
    void add_hot_lines(HotLines& lines) const {
        lines.add(this, sizeof *this);
        if (sender_)
            sender_->add_hot_lines(lines);
    }

private:
    Result<void> check_stream(std::uint32_t ssrc) const;
    void remember_stream(std::uint32_t ssrc);

    srtp_ctx_t_* outbound_;
    srtp_ctx_t_* inbound_;
    std::vector<std::uint32_t> inbound_ssrcs_;  // at most kInboundStreamsMax
    std::optional<GcmSender> sender_;           // with AES-GCM
};

}  // namespace live::engine::srtp
