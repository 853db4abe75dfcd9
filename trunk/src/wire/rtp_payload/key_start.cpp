#include "wire/rtp_payload/key_start.hpp"

#include <array>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/text/ascii.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace live::wire::rtp_payload {

namespace {

constexpr std::uint8_t kFragmentStart = 0x80;
constexpr std::uint8_t kFirstSlice = 0x80;  // first_mb_in_slice of 0, first_slice_segment_in_pic_flag

// H.264 (RFC 6184, 1.3): a sequence parameter set, or the first slice of an IDR picture. `body` follows the NAL header.
bool begins_avc(unsigned type, Bytes body) { return type == 7 || (type == 5 && !body.empty() && (body[0] & kFirstSlice) != 0); }
// HEVC: a VPS or SPS, or the first slice of a random access picture (H.265, 7.4.2.2).
bool begins_hevc(unsigned type, Bytes body) {
    return type == 32 || type == 33 || (type >= 16 && type <= 21 && !body.empty() && (body[0] & kFirstSlice) != 0);
}

template <class Begins>
bool aggregate_begins(ByteReader in, std::size_t header_bytes, Begins begins) {
    while (!in.at_end()) {
        const auto size = in.u16be();
        const auto unit = size.ok() ? in.take(*size) : Result<Bytes>(Error(size.error()));
        if (!unit.ok())
            return false;
        if (unit->size() > header_bytes && begins(*unit))
            return true;
    }
    return false;
}

bool shows_avc_key(Bytes payload) {
    constexpr unsigned kAggregate = 24;
    constexpr unsigned kFragment = 28;
    if (payload.size() < 2)
        return false;
    const auto begins = [](Bytes unit) { return begins_avc(unit[0] & 0x1FU, unit.subspan(1)); };
    const unsigned type = payload[0] & 0x1FU;
    if (type == kFragment)
        return (payload[1] & kFragmentStart) != 0 && begins_avc(payload[1] & 0x1FU, payload.subspan(2));
    if (type == kAggregate)
        return aggregate_begins(ByteReader(payload.subspan(1)), 1, begins);
    return begins(payload);
}

bool shows_hevc_key(Bytes payload) {
    constexpr unsigned kAggregate = 48;
    constexpr unsigned kFragment = 49;
    if (payload.size() < 3)
        return false;
    const auto begins = [](Bytes unit) { return begins_hevc(unit[0] >> 1 & 0x3FU, unit.subspan(2)); };
    const unsigned type = payload[0] >> 1 & 0x3FU;
    if (type == kFragment)
        return (payload[2] & kFragmentStart) != 0 && begins_hevc(payload[2] & 0x3FU, payload.subspan(3));
    if (type == kAggregate)
        return aggregate_begins(ByteReader(payload.subspan(2)), 2, begins);
    return begins(payload);
}

// RFC 6386, 9.1: the first bit of a frame distinguishes inter frames from key frames.
bool shows_vp8_key(Bytes payload) {
    const auto descriptor = parse_vp8_descriptor(payload);
    return descriptor.ok() && descriptor->begins_frame() && (payload[descriptor->bytes] & 1U) == 0;
}

bool shows_vp9_key(Bytes payload) {
    const auto descriptor = parse_vp9_descriptor(payload);
    return descriptor.ok() && descriptor->begins_frame && descriptor->spatial == 0 && !descriptor->is_inter;
}

// "RTP Payload Format For AV1", 4.4: the N bit is set in the first packet of a coded video sequence.
bool shows_av1_key(Bytes payload) { return payload.size() >= 2 && (payload[0] & 0x88U) == 0x08U; }

}  // namespace

std::optional<VideoFormat> video_format_of(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, VideoFormat>, 5> kNames{{{"H264", VideoFormat::avc},
                                                                              {"H265", VideoFormat::hevc},
                                                                              {"VP8", VideoFormat::vp8},
                                                                              {"VP9", VideoFormat::vp9},
                                                                              {"AV1", VideoFormat::av1}}};
    for (const auto& [known, format] : kNames)
        if (ascii::are_same(name, known))
            return format;
    return std::nullopt;
}

bool shows_key_frame(VideoFormat format, Bytes payload) {
    switch (format) {
        case VideoFormat::avc: return shows_avc_key(payload);
        case VideoFormat::hevc: return shows_hevc_key(payload);
        case VideoFormat::vp8: return shows_vp8_key(payload);
        case VideoFormat::vp9: return shows_vp9_key(payload);
        case VideoFormat::av1: return shows_av1_key(payload);
    }
    return false;
}

}  // namespace live::wire::rtp_payload
