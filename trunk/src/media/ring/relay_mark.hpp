// Marks: data messages of our own in a relayed stream, in which the node that has the publisher tells the others how it cuts the
// stream into segments. AMF0: kRelayMarkName, the series ("hls", "dash"), text that only the outputs of that series read, and
// microseconds between the two nodes' timelines.
//
// A mark of the series kRelayEnd is no output's: it tells another node over HTTP-FLV, which has no word for it, that the
// publisher has left. RTMP has its own. One of the series kRelayStart precedes the packets of another connection to an origin,
// for every node further down: timelines are apart by an unknown amount until the next mark. It is not kept for those that join.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

inline constexpr std::string_view kRelayEnd = "end";
inline constexpr std::string_view kRelayStart = "start";

struct RelayMark {
    // Limits, in bytes.
    static constexpr std::size_t kSeriesMax = 16;
    static constexpr std::size_t kTextMax = 32U << 10;

    std::string series;
    std::string text;
    // Added to a time on this node's timeline of the stream, gives the time on that of the node with the publisher.
    MediaTime to_origin{};
};

// `mark` is within the limits.
Slice write_relay_mark(const RelayMark& mark);
// Errc::malformed: not a mark; Errc::limit: too long.
Result<RelayMark> read_relay_mark(Bytes body);
// Whether the body of a data message carries that name.
bool is_relay_mark(Bytes body);

}  // namespace live::media
