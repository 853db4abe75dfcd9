#include "engine/rtp/send/picture_lines.hpp"

namespace live::engine::rtp {

using wire::rtp_payload::PictureIds;
using wire::rtp_payload::VideoFormat;

void PictureLines::set_codec(std::string_view name) {
    format_ = wire::rtp_payload::video_format_of(name);
    if (format_ != VideoFormat::vp8 && format_ != VideoFormat::vp9)
        format_.reset();
}

void PictureLines::begin(std::uint8_t layer, std::uint32_t timestamp) {
    if (lines_.size() == kLinesMax)
        lines_.erase(lines_.begin());
    lines_.push_back({.layer = layer, .timestamp = timestamp});
}

void PictureLines::rewrite(const Line& line, PictureIds& ids, MutBytes payload) {
    const unsigned mask = ids.id_bits == 15 ? 0x7FFFU : 0x7FU;
    ids.id = static_cast<std::uint16_t>((ids.id + line.id_step.value_or(0)) & mask);
    ids.tl0 = static_cast<std::uint8_t>(ids.tl0 + line.tl0_step);
    wire::rtp_payload::write_picture_ids(payload, ids);
}

void PictureLines::rewrite_first(MutBytes payload) {
    auto ids = find(payload);
    if (!ids || lines_.empty())
        return;
    Line& line = lines_.back();
    if (!line.id_step) {
        line.id_step = last_ ? static_cast<std::uint16_t>(last_->id + 1 - ids->id) : std::uint16_t{0};
        line.tl0_step = last_ ? static_cast<std::uint8_t>(last_->tl0 + 1 - ids->tl0) : std::uint8_t{0};
    }
    rewrite(line, *ids, payload);
    last_ = ids;
}

void PictureLines::rewrite_again(std::uint8_t layer, std::uint32_t timestamp, MutBytes payload) const {
    auto ids = find(payload);
    if (!ids)
        return;
    for (std::size_t i = lines_.size(); i-- > 0;)
        if (lines_[i].layer == layer && static_cast<std::int32_t>(timestamp - lines_[i].timestamp) >= 0)
            return rewrite(lines_[i], *ids, payload);
}

}  // namespace live::engine::rtp
