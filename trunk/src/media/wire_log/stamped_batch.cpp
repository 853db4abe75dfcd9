#include "media/wire_log/stamped_batch.hpp"

#include <algorithm>
#include <array>

namespace live::media {

void StampedBatch::load(const WireLog& wire_log, const Ring& ring, WireLog::Position from, std::size_t bytes) {
    const WireLog::Position enough = from + std::min(bytes, kBytesMax);
    encoder_ = &wire_log.encoder();
    base_ms_ = 0;
    messages_.clear();
    bytes_.clear();
    end_ = from;
    for (Sequence sequence = wire_log.find(from); sequence < wire_log.next() && end_ < enough; ++sequence) {
        const auto begin = static_cast<std::size_t>(end_ - from);
        const WireLog::Position next = wire_log.offset_of(sequence + 1);
        if (next - end_ >= SlabLog::kSharedMin)
            break;
        end_ = next;
        const auto end = static_cast<std::size_t>(end_ - from);
        if (end == begin)
            continue;  // dropped by the format
        messages_.push_back({end, begin + wire_log.entry(sequence).header_bytes, to_ms(ring.at(sequence).dts)});
    }
    std::array<::iovec, 8> parts;
    while (bytes_.size() < end_ - from) {
        const std::size_t count = wire_log.spans(from + bytes_.size(), end_, parts);
        for (const ::iovec& part : std::span(parts).first(count)) {
            const auto* data = static_cast<const std::uint8_t*>(part.iov_base);
            bytes_.insert(bytes_.end(), data, data + part.iov_len);
        }
    }
}

Bytes StampedBatch::stamped_for(std::int64_t base_ms) {
    if (base_ms != base_ms_) {
        for (const Message& message : messages_)
            encoder_->stamp(MutBytes(bytes_).subspan(message.stamp_at, message.end - message.stamp_at),
                            std::max<std::int64_t>(message.time_ms - base_ms, 0));
        base_ms_ = base_ms;
    }
    return bytes_;
}

std::size_t StampedBatch::message_end(std::size_t offset) const {
    if (offset == 0)
        return 0;
    return std::ranges::lower_bound(messages_, offset, {}, &Message::end)->end;
}

}  // namespace live::media
