// Opens an RTMP connection up to "play has started" or "publishing may begin", following redirects.
#pragma once

#include <memory>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "bench/load/load_client.hpp"
#include "engine/rtmp/client.hpp"
#include "io/net/stream.hpp"

namespace live::bench {

// Receives all bytes after the handshake that arrive while a connection is opened.
class ChunkTap {
public:
    virtual ~ChunkTap() = default;
    // A new connection begins.
    virtual void begin() = 0;
    virtual Result<void> take(Bytes chunks) = 0;
};

struct OpenedRtmp {
    std::unique_ptr<io::Stream> stream;
    std::unique_ptr<engine::rtmp::Client> engine;
};

inline constexpr int kRedirectsMax = 5;
// S0, S1 and S2 (RTMP 1.0, section 5.2).
inline constexpr std::size_t kServerHandshakeBytes = 1 + 2 * 1536;

// For the client's URL, with the simple handshake. `tap` may be nullptr. Errc::malformed for the URL, Errc::denied when the
// server refuses, Errc::limit after kRedirectsMax redirects; errors of the connection.
Result<OpenedRtmp> open_rtmp(LoadClient& client, engine::rtmp::ClientOptions::Mode mode, ChunkTap* tap, io::Deadline deadline);

// Sends the engine's pending output.
Result<void> write_output(LoadClient& client, OpenedRtmp& opened, io::Deadline deadline);

}  // namespace live::bench
