// The offer of a WebRTC load client (RFC 8829, as far as WHIP and WHEP need it), and what it reads from the answer: the agreement
// in the engine's form, and the server's address. Dry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wire/sdp/answer.hpp"

namespace live::bench {

// The header extension that names the layer of a packet.
inline constexpr std::uint8_t kRidExtension = 4;

struct RtcOffer {
    // The client's: play offers to receive, publish to send.
    wire::sdp::Purpose purpose = wire::sdp::Purpose::play;
    std::string ufrag;
    std::string pwd;
    std::string fingerprint;  // SHA-256
    bool has_audio = true;
    bool twcc = true;  // false: transport-wide feedback is not offered
    // For a publisher.
    std::string format;  // of its H.264, for a=fmtp
    std::uint32_t audio_ssrc = 0;
    std::uint32_t video_ssrc = 0;
    std::uint32_t video_rtx_ssrc = 0;
    std::string cname;
    std::vector<std::string> layers{};  // simulcast rids; without them, the SSRCs above are named
};

// A player accepts every codec that servers of this kind send; a publisher sends H.264, and Opus with has_audio.
std::string write_offer(const RtcOffer& offer);

struct RtcAnswer {
    wire::sdp::Agreement agreement;  // ours
    std::string host;                // of the first candidate over UDP: an address, or a name
    std::uint16_t port = 0;
};

// Errc::malformed, Errc::limit, Errc::unsupported: the unacceptable part of the answer.
Result<RtcAnswer> read_answer(std::string_view text, wire::sdp::Purpose purpose);

}  // namespace live::bench
