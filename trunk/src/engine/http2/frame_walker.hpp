// FrameWalker: finds the frame headers in the bytes of an HTTP/2 client (RFC 9113, 4.1), in any portions. It judges nothing: it
// lets a FloodGuard count frames before anything is spent on them, also CONTINUATION frames, which libnghttp2 does not report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"

namespace live::engine::http2 {

class FrameWalker {
public:
    struct Head {
        std::size_t length = 0;  // of the payload
        std::uint8_t type = 0;
        std::uint8_t flags = 0;
        std::uint32_t stream = 0;

        bool operator==(const Head&) const = default;
    };

    // Consumes `input` up to the end of the next header and returns that; nullopt: all of `input` is consumed.
    std::optional<Head> next(Bytes& input);

private:
    static constexpr std::size_t kPrefaceBytes = 24;
    static constexpr std::size_t kHeadBytes = 9;

    std::size_t skipped_ = kPrefaceBytes;  // bytes before the next header
    std::array<std::uint8_t, kHeadBytes> head_{};
    std::size_t has_ = 0;  // of head_
};

}  // namespace live::engine::http2
