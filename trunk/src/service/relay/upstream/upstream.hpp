// Upstream: one connection to an origin, from the request to the end of the stream. Dry: the pull moves the bytes and passes the
// time. RTMP, HTTP-FLV and transport streams (SRT) are implementations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtmp/events.hpp"
#include "media/ring/packet.hpp"
#include "wire/codec/frame.hpp"

namespace live::service::relay {

// Audio or video from a protocol without RTMP messages. The timestamp is the frame's dts.
struct GotFrame {
    MediaKind kind = MediaKind::audio;
    wire::codec::Frame frame;
    MediaKindSet announced{};  // by the origin's container, so far
};
// The origin is up, but does not have the stream, or refuses it. Final.
struct Refused {
    std::string sentence;
};
// The origin redirects the pull; see follow_redirect(). Final.
struct Redirected {
    std::string url;
};
// The stream's publisher has left. Unless it is final, the stream may resume on this connection.
struct Ended {
    std::string sentence;
    bool is_final = false;
};

using UpstreamEvent = std::variant<engine::rtmp::GotMedia, GotFrame, Refused, Redirected, Ended, engine::rtmp::PeerWarning>;

class Upstream {
public:
    virtual ~Upstream() = default;

    // Writes the first bytes to the output. Call once, before everything else.
    virtual Result<void> start(TimePoint now) = 0;
    // An error is the origin's fault and ends the connection.
    virtual Result<void> handle_bytes(TimePoint now, Bytes input) = 0;
    // The origin has closed the connection. Returns an error unless the protocol ends a stream in this way; then an Ended event
    // follows.
    virtual Result<void> handle_end() = 0;
    virtual std::optional<UpstreamEvent> poll_event() = 0;
    virtual void take_output(std::vector<std::uint8_t>& into) = 0;

    // Reports whether the origin has answered. It may still look for the stream, as an edge does.
    virtual bool has_answered() const = 0;
    // Reports whether the origin has agreed to send the stream.
    virtual bool is_started() const = 0;
    // Reports whether timestamps are on the origin's own timeline on every connection.
    virtual bool keeps_timeline() const = 0;
    virtual std::uint64_t bytes_received() const = 0;
};

}  // namespace live::service::relay
