#include "wire/ts/read/pes_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::ts {

namespace {

constexpr std::size_t kPrefixBytes = 6;  // start code, stream id, length
constexpr std::size_t kFirstBytes = 4'096;

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

std::optional<Slice> PesAssembler::begin() {
    auto before = finish();
    open_ = true;
    return before;
}

std::optional<Slice> PesAssembler::finish() {
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
    memory_ = {};
    size_ = whole_ = 0;
}

void PesAssembler::reserve(std::size_t size) {
    if (size <= memory_.size())
        return;
    const std::size_t wanted = std::max(size, memory_.empty() ? std::max(usual_ + usual_ / 4, kFirstBytes) : 2 * memory_.size());
    const std::size_t capacity = whole_ >= size ? whole_ : std::min(wanted, kUnitBytesMax);
    if (memory_.empty())
        memory_ = Slice::allocate(capacity);
    else
        memory_.grow(capacity);
}

Slice PesAssembler::take(std::size_t size) {
    // The rest of the memory is given back: a unit that kept it would be copied later.
    memory_.shrink(size_);
    Slice unit = memory_.sub(0, size);
    // A key frame is longer than the frames around it, and the next one must not get as much memory.
    usual_ = std::min(size, std::max(2 * usual_, kFirstBytes));
    memory_ = {};
    size_ = whole_ = 0;
    open_ = false;
    return unit;
}

std::optional<Slice> PesAssembler::push(Bytes payload) {
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
    copy_bytes(payload, memory_.mutable_bytes().subspan(size_));
    size_ += payload.size();
    if (whole_ == 0 || size_ < whole_)
        return std::nullopt;
    return take(whole_);
}

}  // namespace live::wire::ts
