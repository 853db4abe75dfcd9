#include "wire/codec/video/picture_units.hpp"

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/vp9.hpp"

namespace live::wire::codec {

namespace {

// Reads length-prefixed NAL units. Runs for each message that arrives, so it does not use Result.
class UnitReader {
public:
    UnitReader(Bytes units, std::uint8_t length_size) : rest_(units), length_size_(length_size) {}

    bool at_end() const { return rest_.empty(); }
    // False: it is cut.
    bool read(Bytes& unit) {
        if (rest_.size() < length_size_)
            return false;
        std::size_t length = 0;
        for (std::size_t i = 0; i < length_size_; ++i)
            length = length << 8 | rest_[i];
        rest_ = rest_.subspan(length_size_);
        if (length > rest_.size())
            return false;
        unit = rest_.first(length);
        rest_ = rest_.subspan(length);
        return true;
    }

private:
    Bytes rest_;
    std::uint8_t length_size_;
};

// H.264, table 7-1; H.265, table 7-1.
unsigned type_of(Codec codec, Bytes unit) { return codec == Codec::avc ? unit[0] & 0x1FU : unit[0] >> 1 & 0x3FU; }

bool is_random_access_type(Codec codec, unsigned type) {
    constexpr unsigned kAvcIdr = 5;
    constexpr unsigned kHevcFirst = 16;
    constexpr unsigned kHevcLast = 23;
    return codec == Codec::avc ? type == kAvcIdr : type >= kHevcFirst && type <= kHevcLast;
}

bool has_random_access_unit(Codec codec, std::uint8_t length_size, Bytes frame) {
    Bytes unit;
    for (UnitReader in(frame, length_size); !in.at_end();) {
        if (!in.read(unit))
            return false;
        if (!unit.empty() && is_random_access_type(codec, type_of(codec, unit)))
            return true;
    }
    return false;
}

bool has_sequence_header(Bytes frame) {
    for (ByteReader in(frame); !in.at_end();) {
        const auto obu = read_obu(in);
        if (!obu.ok())
            return false;
        if (obu->type == Obu::kSequenceHeader)
            return true;
    }
    return false;
}

// The place of a unit in or around an image. `other`: an empty unit.
enum class UnitPart : std::uint8_t { front, first, middle, back, other };

// H.264, table 7-1 and 7.4.1.2.3. A slice begins with the address of its first macroblock, which is 0 if the first bit is set.
UnitPart avc_part(Bytes unit) {
    switch (const unsigned type = unit[0] & 0x1FU) {
        case 1:
        case 2:
        case 5: return unit.size() < 2 || (unit[1] & 0x80U) != 0 ? UnitPart::first : UnitPart::middle;
        case 3:  // data partitions
        case 4:
        case 19:  // auxiliary picture
        case 20:  // of another layer or view
        case 21: return UnitPart::middle;
        case 10:  // end of sequence, of stream
        case 11:
        case 12: return UnitPart::back;  // filler data
        default: return type == 0 ? UnitPart::other : UnitPart::front;
    }
}

// H.265, table 7-1 and 7.4.2.4.4. A slice segment begins with first_slice_segment_in_pic_flag.
UnitPart hevc_part(Bytes unit) {
    constexpr unsigned kLastSlice = 31;
    const unsigned type = unit[0] >> 1 & 0x3FU;
    if (type <= kLastSlice) {
        if (unit.size() < 3)
            return UnitPart::first;
        const unsigned layer = (unit[0] & 1U) << 5 | unit[1] >> 3;
        return layer == 0 && (unit[2] & 0x80U) != 0 ? UnitPart::first : UnitPart::middle;
    }
    const bool is_back = (type >= 36 && type <= 38) || type == 40 || (type >= 45 && type <= 47) || type >= 56;
    return is_back ? UnitPart::back : UnitPart::front;
}

// One message has slices in any order where the profile allows it: a later one may be the first of the picture.
bool has_first_slice(Codec codec, UnitReader in) {
    Bytes unit;
    while (!in.at_end()) {
        if (!in.read(unit))
            return false;
        if (!unit.empty() && (codec == Codec::avc ? avc_part(unit) : hevc_part(unit)) == UnitPart::first)
            return true;
    }
    return false;
}

PicturePart nal_part_of(Codec codec, std::uint8_t length_size, Bytes units) {
    PicturePart part = PicturePart::unknown;
    Bytes unit;
    for (UnitReader in(units, length_size); !in.at_end();) {
        if (!in.read(unit))
            return PicturePart::unknown;
        if (unit.empty())
            continue;
        switch (codec == Codec::avc ? avc_part(unit) : hevc_part(unit)) {
            case UnitPart::first: return PicturePart::first;
            case UnitPart::middle:
                // After units that precede an image, or with a first slice, this unit begins a new image.
                if (part == PicturePart::front || has_first_slice(codec, in))
                    return PicturePart::first;
                return PicturePart::middle;
            case UnitPart::front: part = PicturePart::front; break;
            case UnitPart::back: part = part == PicturePart::unknown ? PicturePart::back : part; break;
            case UnitPart::other: break;
        }
    }
    return part;
}

// Most frames of H.264 begin with their first slice.
bool begins_with_first_slice(Bytes units) {
    constexpr std::size_t kLengthBytes = 4;
    if (units.size() < kLengthBytes + 2)
        return false;
    const std::size_t length = std::size_t{units[0]} << 24 | std::size_t{units[1]} << 16 | std::size_t{units[2]} << 8 | units[3];
    const unsigned type = units[4] & 0x1FU;
    return (type == 1 || type == 5) && (units[5] & 0x80U) != 0 && length >= 2 && length <= units.size() - kLengthBytes;
}

// AV1, 5.9.2: show_existing_frame, then the frame type and show_frame. A still picture's reduced header is shown as well, but its
// bits have another meaning; such streams are not live.
bool is_shown(const Obu& frame) {
    constexpr unsigned kShowExisting = 0x80;
    constexpr unsigned kShow = 0x10;
    return !frame.payload.empty() && (frame.payload[0] & (kShowExisting | kShow)) != 0;
}

// AV1, 5.9.1: a header that only shows an earlier frame has no tiles.
bool is_complete(const Obu& header) { return !header.payload.empty() && (header.payload[0] & 0x80U) != 0; }

PicturePart obu_part_of(Bytes units) {
    constexpr unsigned kFrameHeader = 3;
    constexpr unsigned kTiles = 4;
    constexpr unsigned kFrame = 6;
    constexpr unsigned kRedundantHeader = 7;
    constexpr unsigned kPadding = 15;
    PicturePart part = PicturePart::unknown;
    bool awaits_tiles = false;  // of a frame that is shown
    for (ByteReader in(units); !in.at_end();) {
        const auto obu = read_obu(in);
        if (!obu.ok())
            return PicturePart::unknown;
        const bool is_alone = part == PicturePart::unknown || part == PicturePart::back;
        if (obu->type == kFrame && is_shown(*obu))
            return PicturePart::first;
        if (obu->type == kFrameHeader && is_complete(*obu))
            return PicturePart::first;
        if (obu->type == kTiles && awaits_tiles)
            return PicturePart::first;
        if ((obu->type == kTiles || obu->type == kRedundantHeader) && is_alone)
            return PicturePart::middle;
        awaits_tiles = awaits_tiles || (obu->type == kFrameHeader && is_shown(*obu));
        if (obu->type != kPadding)
            part = PicturePart::front;
        else if (is_alone)
            part = PicturePart::back;
    }
    return part;
}

}  // namespace

bool is_random_access(Codec codec, std::uint8_t length_size, Bytes frame) {
    switch (codec) {
        case Codec::avc:
        case Codec::hevc: return has_random_access_unit(codec, length_size, frame);
        case Codec::av1: return has_sequence_header(frame);
        case Codec::vp8: return !frame.empty() && (frame[0] & 1U) == 0;  // RFC 6386, 9.1
        case Codec::vp9: return parse_vp9_key_frame(frame).ok();
        default: return false;
    }
}

PicturePart picture_part_of(Codec codec, std::uint8_t length_size, Bytes units) {
    if (codec == Codec::avc && length_size == 4 && begins_with_first_slice(units))
        return PicturePart::first;
    switch (codec) {
        case Codec::avc:
        case Codec::hevc: return nal_part_of(codec, length_size, units);
        case Codec::av1: return obu_part_of(units);
        default: return PicturePart::unknown;
    }
}

}  // namespace live::wire::codec
