// srt:// addresses that this server calls, as an operator writes them, in the spelling of libsrt's tools. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::session::srt {

struct CallUrl {
    // Longer ones are a mistake: ffmpeg's latency is in microseconds.
    static constexpr std::chrono::milliseconds kLatencyMax{30'000};
    static constexpr std::size_t kBytesMax = 1024;

    std::string host;  // a name or an address, without brackets
    std::uint16_t port = 0;
    std::string stream_id;  // empty: none
    std::string passphrase;
    std::size_t key_bytes = 16;
    std::optional<std::chrono::milliseconds> latency;  // none: that of srt_server
    // Packets with one key, and those of them after which the next key is announced; 0: as everywhere.
    std::uint32_t key_refresh_packets = 0;
    std::uint32_t key_announce_packets = 0;

    // For logs: without the query, which holds secrets.
    std::string label() const;
    bool operator==(const CallUrl&) const = default;
};

bool is_srt_url(std::string_view text);

// srt://HOST:PORT?streamid=S&passphrase=P&pbkeylen=N&latency=MS&kmrefreshrate=N&kmpreannounce=N, values percent-encoded where
// needed; other parameters of those tools have no effect. Errc::unsupported for another mode than caller, Errc::limit over
// kBytesMax, Errc::malformed.
Result<CallUrl> parse_call_url(std::string_view text);

}  // namespace live::session::srt
