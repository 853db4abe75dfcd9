// Sync messages: how nodes that relay a stream learn where the node that has the publisher cuts it into segments. Inside a
// process they are entries of a `SyncLog`. Between nodes they are data messages in AMF0: kSyncMessageName, the series ("hls",
// "dash"), a text that only the outputs of that series read, and microseconds between the timelines of the two nodes.
//
// Three series belong to the relay itself. kRelayRenditions has the renditions of the stream (media/ring/rendition_names.hpp).
// kRelayEnd reports over HTTP-FLV that the publisher has left; RTMP has a message of its own for that. kRelayStart precedes the
// packets of another connection to an origin: the offset between the timelines is unknown until the next message. Nodes that join
// do not get it.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live::media {

// A publisher's messages of this name are dropped.
inline constexpr std::string_view kSyncMessageName = "onMillraceMark";
inline constexpr std::string_view kRelayEnd = "end";
inline constexpr std::string_view kRelayStart = "start";
inline constexpr std::string_view kRelayRenditions = "renditions";

struct SyncMessage {
    // Limits, in bytes.
    static constexpr std::size_t kSeriesMax = 16;
    static constexpr std::size_t kTextMax = 32U << 10;

    std::string series;
    std::string text;
    // Added to a time on this node's timeline of the stream, gives the time on the timeline of the node that has the publisher.
    MediaTime to_origin{};
};

// Returns the body of a data message. `message` must be within the limits.
Slice write_sync_message(const SyncMessage& message);
// Errc::malformed: not a sync message; Errc::limit: too long.
Result<SyncMessage> read_sync_message(Bytes body);
// Reports whether `body` begins with kSyncMessageName.
bool is_sync_message(Bytes body);

}  // namespace live::media
