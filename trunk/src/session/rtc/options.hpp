// Options for WebRTC: the server's ports and addresses (rtc_server {}), and the behaviour of one virtual host (vhost rtc {}). The
// rows are in option_rows.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/config/option_check.hpp"
#include "base/time.hpp"

namespace live::session::rtc {

struct RtcTcpOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"8000"};
};

struct PlaintextMirrorOptions {
    bool enabled = false;
    std::string addr;
};

enum class RtcTransport : std::uint8_t { udp, tcp, all };
enum class IpFamily : std::uint8_t { ipv4, ipv6, all };

struct CircuitBreakerOptions {
    bool enabled = true;
    std::uint32_t high_threshold = 90;
    std::uint32_t high_pulse = 2;
    std::uint32_t critical_threshold = 95;
    std::uint32_t critical_pulse = 1;
    std::uint32_t dying_threshold = 99;
    std::uint32_t dying_pulse = 5;
};

struct RtcServerOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"8000"};
    RtcTcpOptions tcp;
    RtcTransport protocol = RtcTransport::udp;
    // $NAME is replaced by the variable's value, or by * when it is unset.
    std::vector<std::string> candidates = {"*"};
    bool use_auto_detect_network_ip = true;
    IpFamily ip_family = IpFamily::ipv4;
    bool api_as_candidates = true;
    bool resolve_api_domain = true;
    bool keep_api_domain = false;
    bool ecdsa = true;
    bool encrypt = true;
    std::uint32_t reuseport = 1;
    bool merge_nalus = false;
    PlaintextMirrorOptions plaintext_mirror;
    std::string dir;
};

// Frames that refer to later ones, which WebRTC players cannot put in order.
enum class BFrames : std::uint8_t {
    drop,       // left out
    transcode,  // the players of a stream with such frames share a version that is encoded without
};

struct RtcOptions {
    bool enabled = false;
    bool nack = true;
    bool nack_prefer_rtx = true;
    bool nack_no_copy = true;
    bool twcc = true;
    std::chrono::milliseconds stun_timeout = 30s;
    bool stun_strict_check = false;
    std::string dtls_role = "passive";
    std::string dtls_version = "auto";
    std::uint32_t drop_for_pt = 0;
    bool rtmp_to_rtc = false;
    bool keep_bframe = false;
    bool keep_avc_nalu_sei = true;
    std::uint32_t opus_bitrate = 48'000;
    bool rtc_to_rtmp = false;
    std::chrono::milliseconds pli_for_rtmp = 6s;
    std::uint32_t aac_bitrate = 48'000;
    // Ours.
    bool keep_opus = false;
    bool init_rate_from_sdp = false;
    bool keep_original_ssrc = false;
    BFrames bframes = BFrames::drop;
};

// An address that no client can use is an error: clients would fail without a message.
config::Findings check_rtc_server_options(const RtcServerOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<RtcServerOptions> kRtcServerCheck{check_rtc_server_options};

}  // namespace live::session::rtc
