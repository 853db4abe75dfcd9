// Encoding for many bytes at once, in pieces between which other fibers run: before a player joins, and after a publisher's large
// frames.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/loop.hpp"
#include "media/source/cursor.hpp"
#include "media/source/source.hpp"
#include "media/source/wire_log_hold.hpp"
#include "session/common/admission.hpp"

namespace live::session {

// Calls `step(bytes)`, which encodes about as many bytes more of up to Retention::kRingBytesMax, until it returns true. Other
// fibers run in between. Errors: the deadline's and Errc::cancelled.
template <class Step>
Result<void> catch_up(Step&& step, io::Deadline deadline) {
    while (!step(media::WireLogs::kCatchUpBytes))
        if (io::is_turn_over())
            TRY(io::yield(deadline));
    return {};
}

inline Result<void> catch_up(media::WireLogHold& hold, io::Deadline deadline) {
    return catch_up([&hold](std::size_t bytes) { return hold.catch_up(bytes); }, deadline);
}

// For a publisher, before Source::flush(): encodes the frames that append() has deferred, one piece per turn of the loop. The
// publication may have been taken over meanwhile.
inline Result<void> encode_rest(media::Source& source, io::Deadline deadline) {
    while (!source.backlog().empty()) {
        TRY(io::yield(deadline));
        source.backlog().encode_some();
    }
    return {};
}

// Returns where the stream begins for a relay that continues one, so that no packet is missing; nullopt: at the join point.
inline std::optional<media::Sequence> relay_start(const ClientRequest& relay, const media::Source& source) {
    if (!relay.is_relay() || !relay.claims->has || !source.is_published())
        return std::nullopt;
    return source.retention().join_point(*relay.claims->has + media::Cursor::kOverlap);
}

}  // namespace live::session
