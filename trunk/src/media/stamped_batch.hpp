// StampedBatch: a stretch of a stamped run, copied once for a whole cohort, whose times are then written anew for each reader's
// own zero: a few stores a message instead of a copy a reader.
#pragma once

#include <cstdint>
#include <vector>

#include "media/wire_log.hpp"

namespace live::media {

class StampedBatch {
public:
    // A batch ends behind the message that reaches this.
    static constexpr std::size_t kBytes = 256 * 1024;

    // Whole messages from `from`, a message boundary before the log's head. `ring` is what the log mirrors.
    void load(const WireLog& wire_log, const Ring& ring, WireLog::Position from);
    // The batch for a reader whose zero is `base_ms` on the source's timeline. Valid until the next call.
    Bytes stamped_for(std::int64_t base_ms);

    // Behind the last message, as a place in the log.
    WireLog::Position end() const { return end_; }
    std::size_t size() const { return bytes_.size(); }
    // Where the message ends that holds the first byte behind `offset`; `offset` itself at a boundary.
    std::size_t message_end(std::size_t offset) const;

private:
    struct Message {
        std::size_t end = 0;
        std::size_t stamp_at = 0;
        std::int64_t time_ms = 0;
    };

    const WireEncoder* encoder_ = nullptr;
    std::vector<std::uint8_t> bytes_;
    std::vector<Message> messages_;
    WireLog::Position end_ = 0;
    std::int64_t base_ms_ = 0;
};

}  // namespace live::media
