#include "wire/ts/write/access_unit.hpp"

#include <array>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

namespace live::wire::ts {

namespace {

constexpr std::array<std::uint8_t, 4> kStartCode = {0, 0, 0, 1};
// Allows any slice type: primary_pic_type 7 (H.264, table 7-5), pic_type 2 (H.265, table 7-2).
constexpr std::array<std::uint8_t, 6> kAvcDelimiter = {0, 0, 0, 1, 0x09, 0xF0};
constexpr std::array<std::uint8_t, 7> kHevcDelimiter = {0, 0, 0, 1, 0x46, 0x01, 0x50};

struct NalTypes {
    unsigned shift;
    unsigned mask;
    unsigned delimiter;
    unsigned first_set;  // first parameter set type ...
    unsigned last_set;   // ... and last
};
constexpr NalTypes kAvcTypes = {0, 0x1F, 9, 7, 8};                                                // H.264, table 7-1
constexpr NalTypes kHevcTypes = {1, 0x3F, 35, codec::HevcConfig::kVps, codec::HevcConfig::kPps};  // H.265, table 7-1

void append_unit(std::vector<std::uint8_t>& out, Bytes unit) {
    out.insert(out.end(), kStartCode.begin(), kStartCode.end());
    out.insert(out.end(), unit.begin(), unit.end());
}

Result<std::size_t> read_length(ByteReader& in, std::uint8_t size) {
    std::size_t length = 0;
    for (std::uint8_t i = 0; i < size; ++i)
        length = length << 8 | TRY(in.u8());
    return length;
}

// Parameter set types seen, as bits counted from first_set; when all bits are set, none is missing.
class SetsSeen {
public:
    explicit SetsSeen(const NalTypes& types) : types_(types) {}
    void note(unsigned type) {
        if (type >= types_.first_set && type <= types_.last_set)
            seen_ |= 1U << (type - types_.first_set);
    }
    bool all() const { return seen_ == (1U << (types_.last_set - types_.first_set + 1)) - 1; }

private:
    const NalTypes& types_;
    unsigned seen_ = 0;
};

}  // namespace

Result<VideoFormat> avc_video_format(Bytes record) {
    const auto config = TRY(codec::parse_avc_config(record));
    VideoFormat format{PictureCodec::avc, config.nal_length_size, {}};
    for (const Bytes set : config.sps)
        append_unit(format.parameter_sets, set);
    for (const Bytes set : config.pps)
        append_unit(format.parameter_sets, set);
    return format;
}

Result<VideoFormat> hevc_video_format(Bytes record) {
    const auto config = TRY(codec::parse_hevc_config(record));
    VideoFormat format{PictureCodec::hevc, config.nal_length_size, {}};
    for (std::uint8_t type = codec::HevcConfig::kVps; type <= codec::HevcConfig::kPps; ++type)
        for (const codec::HevcArray& array : config.arrays)
            if (array.type == type)
                for (const Bytes unit : array.units)
                    append_unit(format.parameter_sets, unit);
    return format;
}

Result<void> collect_access_unit(const VideoFormat& format, PictureIs is, Bytes body, std::vector<Bytes>& parts) {
    const bool is_avc = format.codec == PictureCodec::avc;
    const NalTypes& types = is_avc ? kAvcTypes : kHevcTypes;
    SetsSeen sets(types);
    parts.clear();
    parts.push_back(is_avc ? Bytes(kAvcDelimiter) : Bytes(kHevcDelimiter));
    parts.push_back(format.parameter_sets);
    std::size_t units = 0;
    for (ByteReader in(body); !in.at_end();) {
        const auto length = read_length(in, format.nal_length_size);
        const auto unit = length.ok() ? in.take(*length) : Result<Bytes>(length.error());
        if (!unit.ok())
            return Error(Errc::malformed, "NAL unit " + std::to_string(units) + " does not fit into its access unit");
        if (unit->empty())
            continue;
        const unsigned type = unit->front() >> types.shift & types.mask;
        if (type == types.delimiter)
            continue;
        if (++units > kNalUnitsMax)
            return Error(Errc::limit, "more than " + std::to_string(kNalUnitsMax) + " NAL units in an access unit");
        sets.note(type);
        parts.push_back(kStartCode);
        parts.push_back(*unit);
    }
    if (is == PictureIs::inter || sets.all())
        parts[1] = {};
    if (units == 0)
        parts.clear();
    return {};
}

}  // namespace live::wire::ts
