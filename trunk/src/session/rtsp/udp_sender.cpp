#include "session/rtsp/udp_sender.hpp"

#include <algorithm>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

// The bytes of the log at the cursor, copied: the datagrams of a batch must be back to back.
void UdpSender::take(media::WireCursor& cursor, std::size_t wanted) {
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
            return;
        cursor.advance(count);
    }
}

std::size_t UdpSender::cut_frames() {
    constexpr std::size_t kHead = wire::rtsp::kInterleavedHeadBytes;
    bytes_.clear();
    pieces_.clear();
    std::size_t at = 0;
    while (at + kHead <= taken_.size()) {
        const std::uint8_t channel = taken_[at + 1];
        const std::size_t size = std::size_t{taken_[at + 2]} << 8 | taken_[at + 3];
        if (at + kHead + size > taken_.size())
            break;
        if (channel < kChannels && addresses_[channel] && size > 0) {
            pieces_.push_back({channel, bytes_.size(), size});
            const auto first = taken_.begin() + static_cast<std::ptrdiff_t>(at + kHead);
            bytes_.insert(bytes_.end(), first, first + static_cast<std::ptrdiff_t>(size));
        }
        at += kHead + size;
    }
    return at;
}

bool UdpSender::send_some(media::WireCursor& cursor) {
    const std::uint64_t behind = cursor.wire_log().head() - std::min(cursor.wire_log().head(), cursor.position());
    const std::size_t wanted = taken_.size() + std::max<std::size_t>(kPieceBytes, static_cast<std::size_t>(behind / kPiecePart));
    take(cursor, wanted);
    const bool has_more = taken_.size() >= wanted;
    const std::size_t used = cut_frames();
    send_pieces(UdpPorts::Port::rtcp);
    send_pieces(UdpPorts::Port::rtp);
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(used));
    return has_more;
}

// Datagrams in a row for one port, all as long as the first but for the last, are one batch.
void UdpSender::send_pieces(UdpPorts::Port port) {
    std::vector<io::GsoBatch> batches;
    std::size_t segments = 0;
    const Piece* last = nullptr;
    for (const Piece& piece : pieces_) {
        if ((piece.channel % 2 != 0) != (port == UdpPorts::Port::rtcp))
            continue;
        io::GsoBatch* const open = batches.empty() ? nullptr : &batches.back();
        const bool joins = last != nullptr && last->channel == piece.channel && last->at + last->size == piece.at &&
                           last->size == open->segment_bytes && piece.size <= open->segment_bytes &&
                           segments < io::GsoBatch::kSegmentsMax && open->bytes.size() + piece.size <= io::GsoBatch::kBytesMax;
        if (joins) {
            open->bytes = Bytes(open->bytes.data(), open->bytes.size() + piece.size);
            ++segments;
        } else {
            batches.push_back({Bytes(bytes_).subspan(piece.at, piece.size), piece.size, *addresses_[piece.channel], {}});
            segments = 1;
        }
        last = &piece;
        sent_bytes_ += piece.size;
    }
    ports_.send(port, batches);
}

void UdpSender::send_goodbye(std::uint32_t ssrc_base) {
    for (std::size_t channel = 1; channel < kChannels; channel += 2) {
        if (!addresses_[channel])
            continue;
        ByteWriter out;
        wire::rtcp::write(out, wire::rtcp::ReceiverReport{ssrc_base, {}});
        wire::rtcp::write(out, wire::rtcp::Goodbye{{ssrc_base, ssrc_base + 1}});
        const io::GsoBatch batch{out.written(), out.size(), *addresses_[channel], {}};
        ports_.send(UdpPorts::Port::rtcp, std::span(&batch, 1));
    }
}

}  // namespace live::session::rtsp
