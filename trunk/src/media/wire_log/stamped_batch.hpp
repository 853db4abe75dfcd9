// StampedBatch: a section of a stamped wire log, copied once for a whole cohort, whose timestamps are then rewritten for each
// reader's zero: a few stores per message instead of a copy per reader.
#pragma once

#include <cstdint>
#include <vector>

#include "media/wire_log/wire_log.hpp"

namespace live::media {

class StampedBatch {
public:
    static constexpr std::size_t kBytesMax = 256 * 1024;

    // Copies whole messages from `from`, a message boundary before the log's head, up to the one that reaches `bytes` or
    // kBytesMax. `ring` is the ring the log mirrors. Empty if the next message is too large to be copied (SlabLog::kSharedMin).
    void load(const WireLog& wire_log, const Ring& ring, WireLog::Position from, std::size_t bytes = kBytesMax);
    // The batch for a reader whose zero is `base_ms` on the source's timeline. Valid until the next call.
    Bytes stamped_for(std::int64_t base_ms);

    // The position in the log after the last message.
    WireLog::Position end() const { return end_; }
    std::size_t size() const { return bytes_.size(); }
    // The end of the message that contains the first byte after `offset`; `offset` itself at a boundary.
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
