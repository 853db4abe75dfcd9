#include "wire/rtp_payload/picture_ids.hpp"

namespace live::wire::rtp_payload {

namespace {

// RFC 7741, 4.2 and RFC 9628, 4.2: M, then 7 or 15 bits.
constexpr std::uint8_t kIsLong = 0x80;

// Reads the picture ID at `at`, and moves `at` behind it.
std::optional<PictureIds> read_id(Bytes payload, std::size_t& at) {
    if (at >= payload.size())
        return std::nullopt;
    PictureIds ids{.id_at = at, .id = static_cast<std::uint16_t>(payload[at] & 0x7FU)};
    if ((payload[at++] & kIsLong) != 0) {
        if (at >= payload.size())
            return std::nullopt;
        ids.id_bits = 15;
        ids.id = static_cast<std::uint16_t>(ids.id << 8 | payload[at++]);
    }
    return ids;
}

std::optional<PictureIds> read_tl0(std::optional<PictureIds> ids, Bytes payload, std::size_t at) {
    if (!ids || at >= payload.size())
        return std::nullopt;
    ids->tl0_at = at;
    ids->tl0 = payload[at];
    return ids;
}

std::optional<PictureIds> find_in_vp8(Bytes payload) {
    if (payload.size() < 2 || (payload[0] & 0x80U) == 0 || (payload[1] & 0x80U) == 0)
        return std::nullopt;
    std::size_t at = 2;
    const auto ids = read_id(payload, at);
    return (payload[1] & 0x40U) != 0 ? read_tl0(ids, payload, at) : ids;
}

std::optional<PictureIds> find_in_vp9(Bytes payload) {
    if (payload.empty() || (payload[0] & 0x80U) == 0)
        return std::nullopt;
    std::size_t at = 1;
    const auto ids = read_id(payload, at);
    const bool has_layers = (payload[0] & 0x20U) != 0;
    const bool is_flexible = (payload[0] & 0x10U) != 0;
    return has_layers && !is_flexible ? read_tl0(ids, payload, at + 1) : ids;
}

}  // namespace

std::optional<PictureIds> find_picture_ids(VideoFormat format, Bytes payload) {
    switch (format) {
        case VideoFormat::vp8: return find_in_vp8(payload);
        case VideoFormat::vp9: return find_in_vp9(payload);
        default: return std::nullopt;
    }
}

void write_picture_ids(MutBytes payload, const PictureIds& ids) {
    if (ids.id_bits == 15) {
        payload[ids.id_at] = static_cast<std::uint8_t>(kIsLong | (ids.id >> 8 & 0x7F));
        payload[ids.id_at + 1] = static_cast<std::uint8_t>(ids.id);
    } else {
        payload[ids.id_at] = static_cast<std::uint8_t>(ids.id & 0x7F);
    }
    if (ids.tl0_at)
        payload[*ids.tl0_at] = ids.tl0;
}

}  // namespace live::wire::rtp_payload
