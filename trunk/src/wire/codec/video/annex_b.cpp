#include "wire/codec/video/annex_b.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/check.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/codec/video/start_code.hpp"

namespace live::wire::codec {

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kUsualUnits = 8;

// Zeros that are tested together: an image may be MiB of them.
constexpr std::size_t kBlock = 64;

bool is_zero(const std::uint8_t* block) {
    std::uint8_t any = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
        any |= block[i];
    return any == 0;
}

// Without trailing_zero_8bits and the zero_byte of the next start code: no NAL unit ends with a zero (H.264, 7.4.1).
Bytes without_zeros(Bytes unit) {
    while (unit.size() >= kBlock && is_zero(unit.data() + unit.size() - kBlock))
        unit = unit.first(unit.size() - kBlock);
    while (!unit.empty() && unit.back() == 0)
        unit = unit.first(unit.size() - 1);
    return unit;
}

enum class Purpose : std::uint8_t { vps, sps, pps, dropped, key, other };

// H.264, table 7-1.
Purpose avc_purpose(unsigned type) {
    switch (type) {
        case 5: return Purpose::key;
        case 7: return Purpose::sps;
        case 8: return Purpose::pps;
        case 9:   // access unit delimiter
        case 12:  // filler data
            return Purpose::dropped;
        default: return Purpose::other;
    }
}

// H.265, table 7-1.
Purpose hevc_purpose(unsigned type) {
    constexpr unsigned kFirstRandomAccess = 16;
    constexpr unsigned kLastRandomAccess = 23;
    switch (type) {
        case HevcConfig::kVps: return Purpose::vps;
        case HevcConfig::kSps: return Purpose::sps;
        case HevcConfig::kPps: return Purpose::pps;
        case 35:  // access unit delimiter
        case 38:  // filler data
            return Purpose::dropped;
        default: return type >= kFirstRandomAccess && type <= kLastRandomAccess ? Purpose::key : Purpose::other;
    }
}

std::size_t bytes_with_lengths(const std::vector<Bytes>& units) {
    std::size_t size = 0;
    for (const Bytes unit : units)
        size += kLengthBytes + unit.size();
    return size;
}

void write_length(MutBytes out, std::size_t length) {
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        out[i] = static_cast<std::uint8_t>(length >> (8 * (kLengthBytes - 1 - i)));
}

Slice with_lengths(const std::vector<Bytes>& units) {
    const std::size_t size = bytes_with_lengths(units);
    if (size == 0)
        return {};
    Slice frame = Slice::allocate(size);
    MutBytes out = frame.mutable_bytes();
    for (const Bytes unit : units) {
        write_length(out, unit.size());
        out = copy_bytes(unit, out.subspan(kLengthBytes));
    }
    return frame;
}

struct Move {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t size = 0;
};

// Units keep their order and never overlap, so those that go to the left may move first, from the left on, and the others after
// them, from the right on: nothing is overwritten before it has moved.
void move_all(MutBytes memory, const std::vector<Move>& moves) {
    const auto move = [memory](const Move& one) { std::memmove(memory.data() + one.to, memory.data() + one.from, one.size); };
    for (const Move& one : moves)
        if (one.to < one.from)
            move(one);
    for (std::size_t i = moves.size(); i-- > 0;)
        if (moves[i].to > moves[i].from)
            move(moves[i]);
    for (const Move& one : moves)
        write_length(memory.subspan(one.to - kLengthBytes), one.size);
}

}  // namespace

Slice with_lengths_in_place(const Slice& whole, MutBytes bytes, const std::vector<Bytes>& units) {
    CHECK(bytes.data() == whole.data() && bytes.size() == whole.size());
    const std::size_t size = bytes_with_lengths(units);
    if (size == 0)
        return {};
    // The last unit is usually the largest. It is not moved if the units before it fit into the space before it.
    const auto last = static_cast<std::size_t>(units.back().data() - whole.data());
    const std::size_t before = size - units.back().size();
    const std::size_t begin = last >= before ? last - before : 0;
    if (begin + size > whole.size())
        return with_lengths(units);
    std::vector<Move> moves;
    moves.reserve(units.size());
    std::size_t to = begin;
    for (const Bytes unit : units) {
        moves.push_back({static_cast<std::size_t>(unit.data() - whole.data()), to + kLengthBytes, unit.size()});
        to += kLengthBytes + unit.size();
    }
    move_all(bytes, moves);
    return whole.sub(begin, size);
}

Result<void> split_annex_b(Bytes stream, std::vector<Bytes>& units) {
    units.clear();
    std::size_t at = find_start_code(stream, 0);
    if (!without_zeros(stream.first(at)).empty())
        return Error(Errc::malformed, "a byte stream that does not begin with a start code");
    for (std::size_t found = 0; at < stream.size(); ++found) {
        if (found == kAnnexBUnitsMax)
            return Error(Errc::limit, "more than " + std::to_string(kAnnexBUnitsMax) + " NAL units in an access unit");
        const std::size_t begin = at + kStartCodePrefixBytes;
        at = find_start_code(stream, begin);
        if (const Bytes unit = without_zeros(stream.subspan(begin, at - begin)); !unit.empty())
            units.push_back(unit);
    }
    return {};
}

Result<AnnexBUnits> sort_annex_b(Codec codec, Bytes stream) {
    CHECK(codec == Codec::avc || codec == Codec::hevc);
    const bool is_avc = codec == Codec::avc;
    std::vector<Bytes> units;
    units.reserve(kUsualUnits);
    TRY(split_annex_b(stream, units));
    AnnexBUnits sorted;
    sorted.others.reserve(units.size());
    for (const Bytes unit : units) {
        if (unit.size() < (is_avc ? 1U : 2U))
            return Error(Errc::malformed, "a NAL unit of " + std::to_string(unit.size()) + " bytes");
        const Purpose purpose = is_avc ? avc_purpose(unit[0] & 0x1FU) : hevc_purpose(unit[0] >> 1 & 0x3FU);
        switch (purpose) {
            case Purpose::vps: sorted.vps.push_back(unit); break;
            case Purpose::sps: sorted.sps.push_back(unit); break;
            case Purpose::pps: sorted.pps.push_back(unit); break;
            case Purpose::dropped: break;
            case Purpose::key: sorted.key = true; [[fallthrough]];
            case Purpose::other: sorted.others.push_back(unit); break;
        }
    }
    return sorted;
}

Result<AnnexBAccessUnit> read_annex_b(Codec codec, Bytes stream) {
    AnnexBAccessUnit read{TRY(sort_annex_b(codec, stream)), {}};
    read.frame = with_lengths(read.others);
    return read;
}

Result<std::vector<std::uint8_t>> make_config(Codec codec, const AnnexBUnits& unit) {
    CHECK(codec == Codec::avc || codec == Codec::hevc);
    const bool is_avc = codec == Codec::avc;
    if (unit.sps.empty() || unit.pps.empty() || (!is_avc && unit.vps.empty()))
        return Error(Errc::not_found, "a parameter set is missing");
    return is_avc ? make_avc_config(unit.sps, unit.pps) : make_hevc_config(unit.vps, unit.sps, unit.pps);
}

NalForm form_of(Bytes frame, std::uint8_t length_size) {
    if (!may_be_annex_b(frame))
        return NalForm::lengths;
    for (ByteReader in(frame); !in.at_end();) {
        std::size_t length = 0;
        for (std::uint8_t i = 0; i < length_size; ++i) {
            const auto byte = in.u8();
            if (!byte.ok())
                return NalForm::annex_b;
            length = length << 8 | *byte;
        }
        if (!in.take(length).ok())
            return NalForm::annex_b;
    }
    return NalForm::either;
}

Result<Slice> put_behind_lengths(Bytes head, const std::vector<Bytes>& units, std::uint8_t length_size) {
    std::size_t size = head.size();
    for (const Bytes unit : units) {
        if (unit.size() >> (8U * length_size) != 0)
            return Error(Errc::limit, "a NAL unit of " + std::to_string(unit.size()) + " bytes behind a length of " +
                                          std::to_string(length_size));
        size += length_size + unit.size();
    }
    Slice made = Slice::allocate(size);
    MutBytes out = copy_bytes(head, made.mutable_bytes());
    for (const Bytes unit : units) {
        for (unsigned i = 0; i < length_size; ++i)
            out[i] = static_cast<std::uint8_t>(unit.size() >> (8 * (length_size - 1 - i)));
        out = copy_bytes(unit, out.subspan(length_size));
    }
    return made;
}

}  // namespace live::wire::codec
