// WireLogHold: keeps a wire log for a reader that is about to join. A new log is encoded from the ring, up to
// Retention::kRingBytesMax; a caller that cannot wait for all of it at once calls catch_up() until it is true before creating the
// WireCursor.
#pragma once

#include <cstddef>
#include <utility>

#include "base/bytes/ref.hpp"
#include "media/source/source.hpp"

namespace live::media {

class WireLogHold {
public:
    WireLogHold(Ref<Source> source, const WireFormat& format, Audience audience = Audience::some)
        : source_(std::move(source)), format_(format), audience_(audience) {
        source_->wire_logs().hold(format_, true, audience_);
    }
    ~WireLogHold() { source_->wire_logs().release(format_, audience_); }
    WireLogHold(const WireLogHold&) = delete;
    WireLogHold& operator=(const WireLogHold&) = delete;

    // Encodes some `bytes` more; true: the log is complete, and remains complete while it is held.
    bool catch_up(std::size_t bytes) { return source_->wire_logs().catch_up(format_, bytes); }

private:
    Ref<Source> source_;
    WireFormat format_;
    Audience audience_;
};

}  // namespace live::media
