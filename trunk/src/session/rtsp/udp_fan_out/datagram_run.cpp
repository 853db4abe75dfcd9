#include "session/rtsp/udp_fan_out/datagram_run.hpp"

#include <algorithm>

#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

std::size_t next_piece_bytes(const media::WireCursor& cursor) {
    constexpr std::size_t kPieceBytes = 16U << 10;
    constexpr std::size_t kPiecePart = 128;  // of what is left
    const std::uint64_t behind = cursor.head() - std::min(cursor.head(), cursor.position());
    return std::max<std::size_t>(kPieceBytes, static_cast<std::size_t>(behind / kPiecePart));
}

bool DatagramRun::take(media::WireCursor& cursor, std::size_t bytes) {
    constexpr std::size_t kHead = wire::rtsp::kInterleavedHeadBytes;
    bytes_.clear();
    batches_.clear();
    const std::size_t wanted = taken_.size() + bytes;
    while (taken_.size() < wanted) {
        std::array<::iovec, 8> parts;
        const auto batch = cursor.take(parts);
        std::size_t count = 0;
        for (std::size_t i = 0; i < batch.spans && taken_.size() < wanted; ++i) {
            const auto* data = static_cast<const std::uint8_t*>(parts[i].iov_base);
            const std::size_t size = std::min(parts[i].iov_len, wanted - taken_.size());
            taken_.insert(taken_.end(), data, data + size);
            count += size;
        }
        if (count == 0)
            break;
        cursor.advance(count);
    }
    const bool has_more = taken_.size() >= wanted;
    std::size_t at = 0;
    while (at + kHead <= taken_.size()) {
        const std::size_t size = std::size_t{taken_[at + 2]} << 8 | taken_[at + 3];
        if (at + kHead + size > taken_.size())
            break;
        if (taken_[at + 1] < kChannels && size > 0)
            append(taken_[at + 1], Bytes(taken_).subspan(at + kHead, size));
        at += kHead + size;
    }
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(at));
    return has_more;
}

// All datagrams of a batch are as long as the first, but for the last.
void DatagramRun::append(std::uint8_t channel, Bytes packet) {
    Batch* const open = batches_.empty() ? nullptr : &batches_.back();
    const bool joins = open != nullptr && open->channel == channel && open->size == open->segments * open->segment &&
                       packet.size() <= open->segment && open->segments < io::GsoBatch::kSegmentsMax &&
                       open->size + packet.size() <= io::GsoBatch::kBytesMax;
    if (!joins)
        batches_.push_back({channel, bytes_.size(), 0, packet.size(), 0});
    bytes_.insert(bytes_.end(), packet.begin(), packet.end());
    batches_.back().size += packet.size();
    ++batches_.back().segments;
}

std::size_t DatagramRun::append_batches(const Addresses& addresses, bool is_rtcp, std::vector<io::GsoBatch>& out) const {
    std::size_t bytes = 0;
    for (const Batch& batch : batches_) {
        if ((batch.channel % 2 != 0) != is_rtcp || !addresses[batch.channel])
            continue;
        out.push_back({Bytes(bytes_).subspan(batch.at, batch.size), batch.segment, *addresses[batch.channel], {}});
        bytes += batch.size;
    }
    return bytes;
}

}  // namespace live::session::rtsp
