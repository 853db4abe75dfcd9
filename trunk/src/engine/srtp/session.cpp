#include "engine/srtp/session.hpp"

#include <srtp2/srtp.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/check.hpp"

namespace live::engine::srtp {

namespace {

constexpr std::size_t kRtpBytesMin = 12;
constexpr std::size_t kRtcpBytesMin = 8;

// For a packet that is long enough (RFC 3550, 5.1 and 6.4).
std::uint32_t ssrc_at(Bytes packet, std::size_t at) {
    return static_cast<std::uint32_t>(packet[at]) << 24 | static_cast<std::uint32_t>(packet[at + 1]) << 16 |
           static_cast<std::uint32_t>(packet[at + 2]) << 8 | packet[at + 3];
}

Error failure(srtp_err_status_t status, const char* what) {
    const std::string sentence = std::string(what) + " (" + std::to_string(status) + ")";
    switch (status) {
        case srtp_err_status_auth_fail: return {Errc::denied, sentence + ": not authentic"};
        case srtp_err_status_replay_fail:
        case srtp_err_status_replay_old: return {Errc::conflict, sentence + ": it came before"};
        case srtp_err_status_bad_param:
        case srtp_err_status_parse_err: return {Errc::malformed, sentence + ": not a packet"};
        default: return {Errc::system, sentence};
    }
}

Result<srtp_t> make(Profile profile, std::vector<std::uint8_t> key, srtp_ssrc_type_t direction, unsigned long window) {
    srtp_policy_t policy{};
    if (profile == Profile::aead_aes_128_gcm) {
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
    } else {
        srtp_crypto_policy_set_rtp_default(&policy.rtp);
        srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
    }
    CHECK(key.size() == static_cast<std::size_t>(policy.rtp.cipher_key_len));
    policy.ssrc.type = direction;
    policy.key = key.data();
    policy.window_size = window;
    policy.allow_repeat_tx = direction == ssrc_any_outbound ? 1 : 0;
    srtp_t made = nullptr;
    if (const auto status = srtp_create(&made, &policy); status != srtp_err_status_ok)
        return failure(status, "SRTP session");
    return made;
}

}  // namespace

// The library counts initializations; this one is never undone, because it is needed until the program ends.
Result<void> Session::begin_library() {
    static const srtp_err_status_t status = srtp_init();
    if (status != srtp_err_status_ok)
        return Error(Errc::system, "the SRTP library does not start (" + std::to_string(status) + ")");
    return {};
}

Result<std::unique_ptr<Session>> Session::create(const Keys& keys, unsigned long replay_window, Receives receives) {
    auto session = std::make_unique<Session>(Private{});
    if (keys.profile == Profile::aead_aes_128_gcm) {
        session->sender_ = TRY(GcmSender::create(keys.local));
        if (receives == Receives::rtcp) {
            session->control_ = TRY(GcmControl::create(keys.local, keys.remote));
            return session;
        }
    }
    TRY(begin_library());
    session->outbound_ = TRY(make(keys.profile, keys.local, ssrc_any_outbound, replay_window));
    session->inbound_ = TRY(make(keys.profile, keys.remote, ssrc_any_inbound, replay_window));
    return session;
}

Session::~Session() {
    for (const srtp_t each : {outbound_, inbound_})
        if (each != nullptr)
            srtp_dealloc(each);
}

Result<std::size_t> Session::protect_rtp(MutBytes out, Bytes head, Bytes payload) {
    const std::size_t bytes = head.size() + payload.size();
    CHECK(bytes <= out.size() && kTrailerBytesMax <= out.size() - bytes);
    if (head.size() < kRtpBytesMin)
        return Error(Errc::malformed, "RTP packet of " + std::to_string(bytes) + " bytes");
    if (bytes > kRtpBytesMax)
        return Error(Errc::limit, "RTP packet of " + std::to_string(bytes) + " bytes");
    if (sender_)
        return sender_->seal(out, head, payload);
    // The library works in place and on aligned words; packets to be sent have any length and alignment.
    alignas(16) std::array<std::uint8_t, kRtpBytesMax + kTrailerBytesMax> storage;
    copy_bytes(payload, copy_bytes(head, storage));
    int length = static_cast<int>(bytes);
    if (const auto status = srtp_protect(outbound_, storage.data(), &length); status != srtp_err_status_ok)
        return failure(status, "protecting RTP");
    copy_bytes(Bytes(storage).first(static_cast<std::size_t>(length)), out);
    return static_cast<std::size_t>(length);
}

Result<std::size_t> Session::protect_rtcp(MutBytes storage, std::size_t bytes) {
    CHECK(bytes <= storage.size() && kTrailerBytesMax <= storage.size() - bytes);
    if (bytes < kRtcpBytesMin)
        return Error(Errc::malformed, "RTCP packet of " + std::to_string(bytes) + " bytes");
    if (control_)
        return control_->protect(storage, bytes);
    int length = static_cast<int>(bytes);
    if (const auto status = srtp_protect_rtcp(outbound_, storage.data(), &length); status != srtp_err_status_ok)
        return failure(status, "protecting RTCP");
    return static_cast<std::size_t>(length);
}

Result<void> Session::check_stream(std::uint32_t ssrc) const {
    if (inbound_ssrcs_.size() < kInboundStreamsMax || std::ranges::find(inbound_ssrcs_, ssrc) != inbound_ssrcs_.end())
        return {};
    return Error(Errc::limit, "an SRTP session of more than " + std::to_string(kInboundStreamsMax) + " streams");
}

// The library keeps a stream from its first authentic packet on.
void Session::remember_stream(std::uint32_t ssrc) {
    if (std::ranges::find(inbound_ssrcs_, ssrc) == inbound_ssrcs_.end())
        inbound_ssrcs_.push_back(ssrc);
}

Result<std::size_t> Session::unprotect_rtp(MutBytes packet) {
    if (packet.size() < kRtpBytesMin)
        return Error(Errc::malformed, "SRTP packet of " + std::to_string(packet.size()) + " bytes");
    if (inbound_ == nullptr)
        return Error(Errc::unsupported, "RTP in a session that only receives RTCP");
    const std::uint32_t ssrc = ssrc_at(packet, 8);
    TRY(check_stream(ssrc));
    int length = static_cast<int>(packet.size());
    if (const auto status = srtp_unprotect(inbound_, packet.data(), &length); status != srtp_err_status_ok)
        return failure(status, "SRTP packet");
    remember_stream(ssrc);
    return static_cast<std::size_t>(length);
}

Result<std::size_t> Session::unprotect_rtcp(MutBytes packet) {
    if (packet.size() < kRtcpBytesMin)
        return Error(Errc::malformed, "SRTCP packet of " + std::to_string(packet.size()) + " bytes");
    if (control_)
        return control_->unprotect(packet);
    const std::uint32_t ssrc = ssrc_at(packet, 4);
    TRY(check_stream(ssrc));
    int length = static_cast<int>(packet.size());
    if (const auto status = srtp_unprotect_rtcp(inbound_, packet.data(), &length); status != srtp_err_status_ok)
        return failure(status, "SRTCP packet");
    remember_stream(ssrc);
    return static_cast<std::size_t>(length);
}

}  // namespace live::engine::srtp
