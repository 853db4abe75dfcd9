// Options for SRT: the server's ports and the properties of a connection (srt_server {}), the behaviour of one virtual host
// (vhost srt {}), and the limits of waiting clients (limits {}). The rows are in option_rows.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/config/option_check.hpp"
#include "session/srt/stream_id.hpp"

namespace live::session::srt {

struct SrtServerOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"10080"};
    std::int64_t maxbw = -1;
    std::uint32_t mss = 1500;
    bool tsbpdmode = true;
    std::chrono::milliseconds latency{120};
    std::chrono::milliseconds recvlatency{120};
    std::chrono::milliseconds peerlatency{0};
    bool tlpktdrop = true;
    std::chrono::milliseconds connect_timeout{3000};
    std::chrono::milliseconds peer_idle_timeout{10'000};
    std::uint32_t sendbuf = 8192 * (1500 - 28);
    std::uint32_t recvbuf = 8192 * (1500 - 28);
    std::uint32_t payloadsize = 1316;
    std::string passphrase;
    std::uint32_t pbkeylen = 0;
    std::string default_app = "live";
    bool sei_filter = true;
    bool mix_correct = true;
    Mode default_mode = Mode::request;
    std::string default_streamid = "#!::r=live/livestream,m=request";
};

struct SrtOptions {
    bool enabled = false;
    bool srt_to_rtmp = true;
    // Ours. Replaces the server's passphrase for this virtual host.
    std::string passphrase;
    // Ours. The answers to on_publish and on_play contain the passphrase.
    bool passphrase_callback = false;
};

// Rows of limits {}. These clients wait for callbacks or passphrases.
struct SrtLimitOptions {
    std::uint32_t srt_half_open = 1000;
    std::uint32_t srt_half_open_per_ip = 100;
};

// Latencies that this side requests. `latency` applies to each direction without its own value; a default counts as no value.
inline std::chrono::milliseconds receive_latency(const SrtServerOptions& options) {
    return options.recvlatency != SrtServerOptions().recvlatency ? options.recvlatency : options.latency;
}
inline std::chrono::milliseconds send_latency(const SrtServerOptions& options) {
    const SrtServerOptions defaults;
    return options.peerlatency == defaults.peerlatency && options.latency != defaults.latency ? options.latency
                                                                                              : options.peerlatency;
}

// The protocol's limits for the length of a passphrase.
inline constexpr std::size_t kPassphraseBytesMin = 10;
inline constexpr std::size_t kPassphraseBytesMax = 79;

config::Findings check_srt_options(const SrtOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<SrtOptions> kSrtCheck{check_srt_options, true};
config::Findings check_srt_server_options(const SrtServerOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<SrtServerOptions> kSrtServerCheck{check_srt_server_options};

}  // namespace live::session::srt
