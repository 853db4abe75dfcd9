#include "wire/rtp_payload/aac.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::rtp_payload {

namespace {

constexpr unsigned kByteBits = 8;
constexpr unsigned kSizeBits = 13;
constexpr unsigned kIndexBits = 3;
constexpr std::size_t kHeaderBytes = 4;  // the length of the table, and one entry of it

}  // namespace

// RFC 3640, 3.2.1: for each access unit its size and its index. The index of the first has a length of its own.
Result<std::vector<std::size_t>> AacDepacketizer::read_sizes(Bytes table, std::size_t bits) const {
    std::vector<std::size_t> sizes;
    codec::BitReader in(table);
    for (unsigned index_bits = bits_.index; bits_.size > 0 && bits >= bits_.size + index_bits; index_bits = bits_.index_delta) {
        if (sizes.size() == kUnitsMax)
            return Error(Errc::limit, "AAC in RTP: more than " + std::to_string(kUnitsMax) + " access units");
        sizes.push_back(TRY(in.bits(bits_.size)));
        TRY(in.skip(index_bits));
        bits -= bits_.size + index_bits;
    }
    return sizes;
}

Result<void> AacDepacketizer::push(const Fragment& fragment) {
    ByteReader in(fragment.payload);
    const std::size_t table_bits = TRY(in.u16be());
    const Bytes table = TRY(in.take((table_bits + kByteBits - 1) / kByteBits));
    const auto sizes = TRY(read_sizes(table, table_bits));
    if (sizes.empty())
        return Error(Errc::malformed, "AAC in RTP: no access unit");
    if (sizes.size() == 1 && sizes[0] > in.remaining())
        return take_part(fragment, sizes[0], in.rest());
    open_.clear();
    std::uint32_t timestamp = fragment.timestamp;
    for (const std::size_t size : sizes) {
        if (size > in.remaining())
            return Error(Errc::malformed, "AAC in RTP: sizes that do not fit");
        emit(timestamp, TRY(in.take(size)));
        timestamp += unit_ticks_;
    }
    return {};
}

Result<void> AacDepacketizer::take_part(const Fragment& fragment, std::size_t size, Bytes part) {
    if (size > kUnitBytesMax)
        return Error(Errc::limit, "AAC in RTP: an access unit of " + std::to_string(size) + " bytes");
    if (open_.empty() || open_size_ != size || next_sequence_ != fragment.sequence)
        open_.clear();
    open_.insert(open_.end(), part.begin(), part.end());
    open_size_ = size;
    next_sequence_ = fragment.sequence + 1;
    if (open_.size() < size)
        return {};
    if (open_.size() == size)
        emit(fragment.timestamp, std::exchange(open_, {}));
    open_.clear();
    return {};
}

void AacDepacketizer::emit(std::uint32_t timestamp, Bytes data) {
    if (data.empty())
        return;
    Frame frame;
    frame.timestamp = timestamp;
    frame.is_key = true;
    frame.data.assign(data.begin(), data.end());
    frames_.push_back(std::move(frame));
}

std::optional<Frame> AacDepacketizer::poll() {
    if (frames_.empty())
        return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

Result<void> packetize_aac(Bytes unit, std::size_t payload_bytes_max, PayloadList& out) {
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    if (unit.size() >> kSizeBits != 0)
        return Error(Errc::limit, "AAC in RTP: an access unit of " + std::to_string(unit.size()) + " bytes");
    const auto entry = static_cast<std::uint16_t>(unit.size() << kIndexBits);
    const std::array header = {std::uint8_t{0}, static_cast<std::uint8_t>(kSizeBits + kIndexBits),
                               static_cast<std::uint8_t>(entry >> kByteBits), static_cast<std::uint8_t>(entry)};
    do {
        const Bytes part = unit.first(std::min(unit.size(), payload_bytes_max - kHeaderBytes));
        unit = unit.subspan(part.size());
        out.append(header);
        out.append(part);
        out.end_payload();
    } while (!unit.empty());
    return {};
}

}  // namespace live::wire::rtp_payload
