#include "wire/codec/annex_b.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "wire/codec/avc.hpp"
#include "wire/codec/hevc.hpp"

namespace live::wire::codec {

namespace {

constexpr std::size_t kPrefixBytes = 3;  // start_code_prefix_one_3bytes
constexpr std::size_t kLengthBytes = 4;

// Offset of the next 00 00 01 from `at` on; the size of `stream` when there is none.
std::size_t find_prefix(Bytes stream, std::size_t at) {
    while (at + kPrefixBytes <= stream.size()) {
        const std::uint8_t last = stream[at + 2];
        if (last > 1)
            at += 3;
        else if (last == 1 && stream[at] == 0 && stream[at + 1] == 0)
            return at;
        else
            ++at;
    }
    return stream.size();
}

// Without trailing_zero_8bits and the zero_byte of the next start code: no NAL unit ends with a zero (H.264, 7.4.1).
Bytes without_zeros(Bytes unit) {
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

Slice with_lengths(const std::vector<Bytes>& units) {
    std::size_t size = 0;
    for (const Bytes unit : units)
        size += kLengthBytes + unit.size();
    if (size == 0)
        return {};
    Slice frame = Slice::allocate(size);
    auto out = frame.mutable_bytes().begin();
    for (const Bytes unit : units) {
        for (int shift = 24; shift >= 0; shift -= 8)
            *out++ = static_cast<std::uint8_t>(unit.size() >> shift);
        out = std::ranges::copy(unit, out).out;
    }
    return frame;
}

}  // namespace

Result<void> split_annex_b(Bytes stream, std::vector<Bytes>& units) {
    units.clear();
    std::size_t at = find_prefix(stream, 0);
    if (!without_zeros(stream.first(at)).empty())
        return Error(Errc::malformed, "a byte stream that does not begin with a start code");
    while (at < stream.size()) {
        const std::size_t begin = at + kPrefixBytes;
        at = find_prefix(stream, begin);
        const Bytes unit = without_zeros(stream.subspan(begin, at - begin));
        if (unit.empty())
            continue;
        if (units.size() == kAnnexBUnitsMax)
            return Error(Errc::limit, "more than " + std::to_string(kAnnexBUnitsMax) + " NAL units in an access unit");
        units.push_back(unit);
    }
    return {};
}

Result<AnnexBAccessUnit> read_annex_b(Codec codec, Bytes stream) {
    CHECK(codec == Codec::avc || codec == Codec::hevc);
    const bool is_avc = codec == Codec::avc;
    std::vector<Bytes> units;
    TRY(split_annex_b(stream, units));
    AnnexBAccessUnit read;
    std::vector<Bytes> others;
    for (const Bytes unit : units) {
        if (unit.size() < (is_avc ? 1U : 2U))
            return Error(Errc::malformed, "a NAL unit of " + std::to_string(unit.size()) + " bytes");
        const Purpose purpose = is_avc ? avc_purpose(unit[0] & 0x1FU) : hevc_purpose(unit[0] >> 1 & 0x3FU);
        switch (purpose) {
            case Purpose::vps: read.vps.push_back(unit); break;
            case Purpose::sps: read.sps.push_back(unit); break;
            case Purpose::pps: read.pps.push_back(unit); break;
            case Purpose::dropped: break;
            case Purpose::key: read.key = true; [[fallthrough]];
            case Purpose::other: others.push_back(unit); break;
        }
    }
    read.frame = with_lengths(others);
    return read;
}

Result<std::vector<std::uint8_t>> make_config(Codec codec, const AnnexBAccessUnit& unit) {
    CHECK(codec == Codec::avc || codec == Codec::hevc);
    const bool is_avc = codec == Codec::avc;
    if (unit.sps.empty() || unit.pps.empty() || (!is_avc && unit.vps.empty()))
        return Error(Errc::not_found, "a parameter set is missing");
    return is_avc ? make_avc_config(unit.sps, unit.pps) : make_hevc_config(unit.vps, unit.sps, unit.pps);
}

}  // namespace live::wire::codec
