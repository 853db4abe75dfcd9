// Opens an RTMP connection up to "play has started" or "publishing may begin", following redirects.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "bench/load/load_client.hpp"
#include "engine/rtmp/client.hpp"
#include "io/net/stream.hpp"

namespace live::bench {

struct OpenedRtmp {
    std::unique_ptr<io::Stream> stream;
    std::unique_ptr<engine::rtmp::Client> engine;
    // All bytes that a player received after the handshake, before play started. The engine has handled them.
    std::vector<std::uint8_t> chunks;
};

// A server that sends more before the stream starts is refused.
inline constexpr std::size_t kOpeningBytesMax = 8 << 20;

inline constexpr int kRedirectsMax = 5;
// S0, S1 and S2 (RTMP 1.0, section 5.2).
inline constexpr std::size_t kServerHandshakeBytes = 1 + 2 * 1536;

// For the client's URL, with the simple handshake. Errc::malformed for the URL, Errc::denied when the server refuses, Errc::limit
// after kRedirectsMax redirects or kOpeningBytesMax; errors of the connection.
Result<OpenedRtmp> open_rtmp(LoadClient& client, engine::rtmp::ClientOptions::Mode mode, io::Deadline deadline);

// Sends the engine's pending output.
Result<void> write_output(LoadClient& client, OpenedRtmp& opened, io::Deadline deadline);

}  // namespace live::bench
