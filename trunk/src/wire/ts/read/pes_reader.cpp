#include "wire/ts/read/pes_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::ts {

namespace {

constexpr std::size_t kPrefixBytes = 6;  // start code, stream id, length
constexpr std::size_t kFirstBytes = 4'096;
constexpr std::size_t kUnitsInBlock = 8;

// Table 2-22: these have a payload and no further header.
bool has_only_prefix(std::uint8_t stream_id) {
    constexpr std::uint8_t kOnlyPrefix[] = {0xBC, 0xBE, 0xBF, 0xF0, 0xF1, 0xF2, 0xF8, 0xFF};
    return std::ranges::find(kOnlyPrefix, stream_id) != std::end(kOnlyPrefix);
}

// 33 bits in three groups. The marker bits are not looked at: some encoders leave them out.
Result<std::uint64_t> read_time(ByteReader& in) {
    const std::uint64_t high = TRY(in.u8());
    const std::uint64_t middle = TRY(in.u16be());
    const std::uint64_t low = TRY(in.u16be());
    return (high >> 1 & 7) << 30 | middle >> 1 << 15 | low >> 1;
}

}  // namespace

Result<PesStart> parse_pes(Bytes unit) {
    ByteReader in(unit);
    if (TRY(in.u24be()) != 1)
        return Error(Errc::malformed, "a PES packet without its start code");
    PesStart start;
    start.stream_id = TRY(in.u8());
    TRY(in.skip(2));
    start.header_bytes = kPrefixBytes;
    if (has_only_prefix(start.stream_id))
        return start;
    const auto mark = TRY(in.u8());
    if (mark >> 6 != 2)
        return Error(Errc::malformed, "a PES header of another kind");
    const auto flags = TRY(in.u8());
    ByteReader header(TRY(in.take(TRY(in.u8()))));
    start.header_bytes = in.position();
    if ((flags & 0x80) != 0)
        start.pts = TRY(read_time(header));
    if ((flags & 0xC0) == 0xC0)
        start.dts = TRY(read_time(header));
    return start;
}

std::optional<PesAssembler::Unit> PesAssembler::begin() {
    auto before = finish();
    open_ = true;
    return before;
}

std::optional<PesAssembler::Unit> PesAssembler::finish() {
    if (!open_ || size_ == 0 || whole_ != 0) {
        drop();
        return std::nullopt;
    }
    return take(size_);
}

void PesAssembler::drop() {
    if (open_ && size_ > 0)
        ++dropped_;
    open_ = false;
    size_ = whole_ = 0;
    if (has_own_memory()) {
        block_ = {};
        room_ = {};
    }
}

std::size_t PesAssembler::capacity_for(std::size_t size) const {
    const std::size_t wanted = std::max(size, whole_);
    if (wanted <= kBlockBytes / 2)
        return std::clamp(kUnitsInBlock * std::max(usual_, wanted), kFirstBytes, kBlockBytes);
    return whole_ >= size ? whole_ : std::min(std::max(2 * size, kBlockBytes + 1), kUnitBytesMax);
}

void PesAssembler::reserve(std::size_t size) {
    if (size <= room_.size())
        return;
    if (size_ > 0 && has_own_memory()) {
        block_.grow(capacity_for(size));
    } else if (block_.is_alone() && size <= block_.size()) {
        // Nothing is kept of the units before.
        copy_bytes(room_.first(size_), block_.mutable_bytes());
    } else {
        Slice block = Slice::allocate(capacity_for(size));
        copy_bytes(room_.first(size_), block.mutable_bytes());
        block_ = std::move(block);
    }
    room_ = block_.mutable_bytes();
}

PesAssembler::Unit PesAssembler::take(std::size_t size) {
    constexpr std::size_t kAlignment = 16;
    Unit unit;
    if (has_own_memory()) {
        // The rest of the memory is given back.
        block_.shrink(size);
        unit.bytes = block_.mutable_bytes();
        unit.slice = std::exchange(block_, {});
        room_ = {};
    } else {
        unit = {block_.sub(block_.size() - room_.size(), size), room_.first(size)};
        room_ = room_.subspan(std::min(room_.size(), (size + kAlignment - 1) / kAlignment * kAlignment));
    }
    // A key frame is longer than the frames around it, and the next ones must not get as much memory.
    usual_ = std::min(size, std::max(2 * usual_, kFirstBytes));
    size_ = whole_ = 0;
    open_ = false;
    return unit;
}

std::optional<PesAssembler::Unit> PesAssembler::push(Bytes payload) {
    if (!open_)
        return std::nullopt;
    if (size_ + payload.size() > kUnitBytesMax) {
        drop();
        return std::nullopt;
    }
    if (size_ == 0 && payload.size() >= kPrefixBytes) {
        const std::size_t length = std::size_t{payload[4]} << 8 | payload[5];
        whole_ = length == 0 ? 0 : kPrefixBytes + length;
    }
    reserve(size_ + payload.size());
    copy_bytes(payload, room_.subspan(size_));
    size_ += payload.size();
    if (whole_ == 0 || size_ < whole_)
        return std::nullopt;
    return take(whole_);
}

}  // namespace live::wire::ts
