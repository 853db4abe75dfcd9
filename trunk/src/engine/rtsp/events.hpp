// The events of an RTSP server's connection. Those named Wants... are questions: nothing more is read until they are answered.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "base/bytes/bytes.hpp"
#include "wire/rtsp/description.hpp"
#include "wire/rtsp/transport.hpp"

namespace live::engine::rtsp {

// A client describes the stream before it plays it.
struct WantsToDescribe {
    std::string url;            // without a track
    std::string authorization;  // the header; empty without one
};
// A client describes the stream that it is about to publish.
struct WantsToAnnounce {
    std::string url;
    wire::rtsp::Description description;
    std::string authorization;  // as in WantsToDescribe
};
// A transport for one track; it is the first of the client's alternatives that is allowed. TCP always has `interleaved`, on
// channels that are free, and UDP `client_port`.
struct WantsToSetUp {
    std::size_t track = 0;
    wire::rtsp::Transport transport;
};
struct WantsToPlay {};
struct WantsToRecord {};
// Answered already.
struct Paused {};
struct TornDown {};
// A packet over the connection itself, of a track that is set up.
struct GotPacket {
    std::size_t track = 0;
    bool is_rtcp = false;
    Bytes bytes;  // borrowed until the next call
};

using Event =
    std::variant<WantsToDescribe, WantsToAnnounce, WantsToSetUp, WantsToPlay, WantsToRecord, Paused, TornDown, GotPacket>;

}  // namespace live::engine::rtsp
