// FloodGuard: bounds of what an HTTP/2 client can make a server do at no cost of its own. Dry. The known attacks are resets of
// requests as fast as they are sent (CVE-2023-44487), header blocks without an end (CVE-2024-27316), and frames that make the
// server itself reset requests (CVE-2025-8671); pings, settings and empty frames are older ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace live::engine::http2 {

enum class Flood : std::uint8_t {
    client_resets,  // RST_STREAM of the client
    server_resets,  // RST_STREAM that a frame of the client has provoked
    continuations,  // frames or bytes of one header block
    control,        // PING, SETTINGS, PRIORITY, unknown frames, empty DATA
};
inline constexpr std::size_t kFloods = 4;
// "client_resets": the label of the metric.
std::string_view name_of(Flood flood);
// A sentence for the log.
std::string_view sentence_of(Flood flood);

class FloodGuard {
public:
    // A browser that seeks resets some requests; nobody resets 200 and then 20 more each second.
    static constexpr std::size_t kResetsMax = 200;
    static constexpr std::size_t kResetsPerSecond = 20;
    // Frames after HEADERS, and bytes of the whole block before they are decompressed. The fields of a request are at most
    // 32 KiB, which are three frames.
    static constexpr std::size_t kContinuationsMax = 8;
    static constexpr std::size_t kHeaderBlockBytesMax = 64 << 10;
    static constexpr std::size_t kControlsMax = 1'000;
    static constexpr std::size_t kControlsPerSecond = 100;

    // Each of these counts one event; the result is the bound that it exceeds.
    std::optional<Flood> on_client_reset(TimePoint now);
    std::optional<Flood> on_server_reset(TimePoint now);
    std::optional<Flood> on_control(TimePoint now);
    // A frame of a header block: the HEADERS frame begins it.
    std::optional<Flood> on_header_frame(bool begins, std::size_t bytes);

private:
    // Tokens that come back with time.
    class Bucket {
    public:
        Bucket(std::size_t max, std::size_t per_second) : tokens_(max), max_(max), per_second_(per_second) {}
        // False: there are no tokens left.
        bool take(TimePoint now);

    private:
        std::size_t tokens_;
        std::size_t max_;
        std::size_t per_second_;
        std::optional<TimePoint> refilled_;
    };

    Bucket client_resets_{kResetsMax, kResetsPerSecond};
    Bucket server_resets_{kResetsMax, kResetsPerSecond};
    Bucket controls_{kControlsMax, kControlsPerSecond};
    std::size_t continuations_ = 0;
    std::size_t block_bytes_ = 0;
};

}  // namespace live::engine::http2
