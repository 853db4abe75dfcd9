// The rows of session/rtc/options.hpp.
#pragma once

#include <array>
#include <string_view>

#include "base/config/row.hpp"
#include "session/rtc/options.hpp"
#include "session/rtc/transport/circuit_breaker.hpp"

namespace live::session::rtc {

inline constexpr auto kRestart = config::Reload::restart;
inline constexpr auto kNextSession = config::Reload::next_session;

inline constexpr auto kCircuitBreakerRows = config::Rows{
    config::row(&CircuitBreakerOptions::enabled, "enabled", kRestart, "WebRTC does less when the CPU is busy."),
    config::row(&CircuitBreakerOptions::high_threshold, "high_threshold", 0, 100, kRestart,
                "CPU percent above which NACK is skipped."),
    config::row(&CircuitBreakerOptions::high_pulse, "high_pulse", 0, 3600, kRestart, "Seconds below it until that ends."),
    config::row(&CircuitBreakerOptions::critical_threshold, "critical_threshold", 0, 100, kRestart,
                "CPU percent above which TWCC is skipped too."),
    config::row(&CircuitBreakerOptions::critical_pulse, "critical_pulse", 0, 3600, kRestart, "Seconds below it until that ends."),
    config::row(&CircuitBreakerOptions::dying_threshold, "dying_threshold", 0, 100, kRestart,
                "CPU percent above which packets for players are dropped."),
    config::row(&CircuitBreakerOptions::dying_pulse, "dying_pulse", 0, 3600, kRestart, "Seconds above it until that begins."),
};

inline constexpr auto kRtcTcpRows = config::Rows{
    config::row(&RtcTcpOptions::enabled, "enabled", kRestart, "WebRTC over TCP."),
    config::endpoints(&RtcTcpOptions::listen, "listen", kRestart, "TCP endpoints of the media; those of HTTP are shared."),
};

inline constexpr auto kPlaintextMirrorRows = config::Rows{
    config::row(&PlaintextMirrorOptions::enabled, "enabled", kRestart, "Copies packets in plain text to a UDP address."),
    config::row(&PlaintextMirrorOptions::addr, "addr", kRestart, "That address.").example("127.0.0.1:10000"),
};

inline constexpr std::array kRtcTransportNames = {
    config::Named<RtcTransport>{"udp", RtcTransport::udp},
    config::Named<RtcTransport>{"tcp", RtcTransport::tcp},
    config::Named<RtcTransport>{"all", RtcTransport::all},
};
inline constexpr std::array kIpFamilyNames = {
    config::Named<IpFamily>{"ipv4", IpFamily::ipv4},
    config::Named<IpFamily>{"ipv6", IpFamily::ipv6},
    config::Named<IpFamily>{"all", IpFamily::all},
};

inline constexpr auto kRtcServerRows = config::Rows{
    config::row(&RtcServerOptions::enabled, "enabled", kRestart, "WebRTC server."),
    config::endpoints(&RtcServerOptions::listen, "listen", kRestart, "UDP endpoints of the media."),
    config::block(&RtcServerOptions::tcp, "tcp", kRtcTcpRows, "Media over TCP."),
    config::row(&RtcServerOptions::protocol, "protocol", kRtcTransportNames, kNextSession, "Which candidates an answer names."),
    config::row(&RtcServerOptions::candidates, "candidate", kNextSession,
                "Addresses to advertise: * or 0.0.0.0 finds them, $NAME takes a variable's value, or addresses and names."),
    config::row(&RtcServerOptions::use_auto_detect_network_ip, "use_auto_detect_network_ip", kNextSession,
                "Permits finding them."),
    config::row(&RtcServerOptions::ip_family, "ip_family", kIpFamilyNames, kNextSession, "Which of the found addresses count."),
    config::row(&RtcServerOptions::api_as_candidates, "api_as_candidates", kNextSession, "Adds the host of the API request."),
    config::row(&RtcServerOptions::resolve_api_domain, "resolve_api_domain", kNextSession, "Resolves that host."),
    config::row(&RtcServerOptions::keep_api_domain, "keep_api_domain", kNextSession, "Keeps its name too."),
    config::row(&RtcServerOptions::ecdsa, "ecdsa", kRestart, "An ECDSA certificate; off is RSA."),
    config::row(&RtcServerOptions::encrypt, "encrypt", kNextSession, "SRTP; off only for load tests."),
    config::row(&RtcServerOptions::reuseport, "reuseport", 1, 1024, kRestart, "Sockets on the port."),
    config::row(&RtcServerOptions::merge_nalus, "merge_nalus", kNextSession, "No effect: small units share a packet in any case.")
        .ignored(),
    config::block(&RtcServerOptions::plaintext_mirror, "black_hole", kPlaintextMirrorRows,
                  "A copy of everything, for debugging."),
    config::row(&RtcServerOptions::dir, "dir", kRestart, "No effect.").ignored(),
};

inline constexpr std::array<std::string_view, 2> kDtlsRoleNames = {"passive", "active"};
inline constexpr std::array<std::string_view, 3> kDtlsVersionNames = {"auto", "dtls1.0", "dtls1.2"};

inline constexpr std::array kBFramesNames = {
    config::Named<BFrames>{"drop", BFrames::drop},
    config::Named<BFrames>{"transcode", BFrames::transcode},
};

inline constexpr auto kRtcRows = config::Rows{
    config::row(&RtcOptions::enabled, "enabled", kNextSession, "WebRTC on this virtual host."),
    config::row(&RtcOptions::nack, "nack", kNextSession, "Negotiates NACK."),
    config::row(&RtcOptions::nack_prefer_rtx, "nack_prefer_rtx", kNextSession,
                "Lost packets are sent again as RTX to players that offer it; off sends them with their own SSRC."),
    config::row(&RtcOptions::nack_no_copy, "nack_no_copy", kNextSession, "Shares packets with the resend queue.").ignored(),
    config::row(&RtcOptions::twcc, "twcc", kNextSession, "Transport-wide congestion control feedback."),
    config::row(&RtcOptions::stun_timeout, "stun_timeout", 0s, 3600s, kNextSession, "A session without STUN for this long ends."),
    config::row(&RtcOptions::stun_strict_check, "stun_strict_check", kNextSession, "Drops STUN with the wrong role."),
    config::row(&RtcOptions::dtls_role, "dtls_role", kDtlsRoleNames, kNextSession, "Our role when the offer leaves it open."),
    config::row(&RtcOptions::dtls_version, "dtls_version", kDtlsVersionNames, kNextSession,
                "DTLS version; 1.2 is spoken in any case."),
    config::row(&RtcOptions::drop_for_pt, "drop_for_pt", 0, 127, kNextSession, "Drops RTP of that payload type; 0 is none."),
    config::row(&RtcOptions::rtmp_to_rtc, "rtmp_to_rtc", kNextSession, "RTMP streams can be played over WebRTC."),
    config::row(&RtcOptions::keep_bframe, "keep_bframe", kNextSession, "Keeps B-frames there."),
    config::row(&RtcOptions::bframes, "bframes", kBFramesNames, kNextSession,
                "Ours: drop: B-frames are left out. transcode: while WebRTC players watch a stream that has some, one ffmpeg "
                "encodes it for all of them without."),
    config::row(&RtcOptions::keep_avc_nalu_sei, "keep_avc_nalu_sei", kNextSession,
                "Keeps SEI there, but for what is about the timing of a constant-rate channel."),
    config::row(&RtcOptions::opus_bitrate, "opus_bitrate", 8000, 320'000, kNextSession,
                "Bits a second of the Opus made from AAC.")
        .or_default(),
    config::row(&RtcOptions::rtc_to_rtmp, "rtc_to_rtmp", kNextSession, "WebRTC streams can be played over RTMP."),
    config::row(&RtcOptions::pli_for_rtmp, "pli_for_rtmp", 0.5s, 30.0s, kNextSession, "Period of key frame requests for that.")
        .or_default(),
    config::row(&RtcOptions::aac_bitrate, "aac_bitrate", 8000, 320'000, kNextSession, "Bits a second of the AAC made from Opus.")
        .or_default(),
    config::row(&RtcOptions::keep_opus, "keep_opus", kNextSession,
                "With rtc_to_rtmp: no AAC is made, Opus stays, for players of enhanced RTMP, fMP4 and for edges, whose WebRTC "
                "players then get what the publisher sent."),
    config::row(&RtcOptions::init_rate_from_sdp, "init_rate_from_sdp", kNextSession, "No effect: the SDP's rates count.")
        .ignored(),
    config::row(&RtcOptions::keep_original_ssrc, "keep_original_ssrc", kNextSession, "Players see the publisher's SSRC."),
};

}  // namespace live::session::rtc
