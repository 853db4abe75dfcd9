#include "media/ingest/annex_b_tags.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "wire/codec/decoder_config.hpp"
#include "wire/codec/video/annex_b.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/codec/video/picture_units.hpp"

namespace live::media {

namespace codec = wire::codec;

namespace {

bool has(const std::vector<Bytes>& sets, Bytes set) {
    return std::ranges::any_of(sets, [set](Bytes known) { return std::ranges::equal(known, set); });
}

bool has_all(const std::vector<Bytes>& sets, const std::vector<Bytes>& wanted) {
    return std::ranges::all_of(wanted, [&sets](Bytes set) { return has(sets, set); });
}

// Whether the record has all parameter sets of the unit.
bool knows(const Packet& record, const codec::AnnexBUnits& unit) {
    if (record.codec == Codec::avc) {
        const auto config = codec::parse_avc_config(record.frame());
        return config.ok() && has_all(config->sps, unit.sps) && has_all(config->pps, unit.pps);
    }
    const auto config = codec::parse_hevc_config(record.frame());
    if (!config.ok())
        return false;
    std::vector<Bytes> sets;
    for (const codec::HevcArray& array : config->arrays)
        sets.insert(sets.end(), array.units.begin(), array.units.end());
    return has_all(sets, unit.vps) && has_all(sets, unit.sps) && has_all(sets, unit.pps);
}

// A sequence header with the kind of header that the frame has.
TagPacket config_of(const TagPacket& frame, Slice record) {
    if (frame.fourcc != 0) {
        TagPacket config;
        config.packet = make_packet(
            MediaKind::video,
            {.codec = frame.packet.codec, .content = Content::config, .track = frame.packet.track, .data = std::move(record)});
        return config;
    }
    const auto id = static_cast<std::uint8_t>(frame.packet.payload.bytes()[0] & 0x0F);
    std::vector<std::uint8_t> body = {static_cast<std::uint8_t>(0x10 | id), 0, 0, 0, 0};
    body.insert(body.end(), record.bytes().begin(), record.bytes().end());
    return MUST(read_tag(MediaKind::video, Slice::copy_of(body)));
}

}  // namespace

bool AnnexBTags::is_annex_b(const Packet& packet, std::uint8_t length_size) {
    const auto form = codec::form_of(packet.frame(), length_size);
    has_converted_ = has_converted_ || form == codec::NalForm::annex_b;
    if (form != codec::NalForm::either)
        return form == codec::NalForm::annex_b;
    // If the lengths lead exactly to the end and a slice follows one of them, this is not a coincidence.
    return first_ && has_converted_ &&
           codec::picture_part_of(packet.codec, length_size, packet.frame()) != codec::PicturePart::first;
}

Result<std::optional<TagPacket>> AnnexBTags::convert(TagPacket& tagged, std::uint8_t length_size, const Packet* known) {
    Packet& packet = tagged.packet;
    std::optional<TagPacket> config;
    if (packet.codec != Codec::avc && packet.codec != Codec::hevc)
        return config;
    if (packet.is_config()) {
        TRY(convert_config(tagged));
        return config;
    }
    if (packet.content != Content::frame || !is_annex_b(packet, length_size))
        return config;
    std::vector<Bytes> units;
    TRY(codec::split_annex_b(packet.frame(), units));
    const auto sorted = TRY(codec::sort_annex_b(packet.codec, packet.frame()));
    if (auto record = codec::make_config(packet.codec, sorted);
        record.ok() && (known == nullptr || known->codec != packet.codec || !knows(*known, sorted))) {
        config = config_of(tagged, Slice::copy_of(*record));
        length_size = 4;
    }
    packet.payload = TRY(codec::put_behind_lengths(packet.payload.bytes().first(packet.head), units, length_size));
    return config;
}

// One that does not hold all parameter sets is left alone.
Result<void> AnnexBTags::convert_config(TagPacket& tagged) {
    Packet& packet = tagged.packet;
    if (codec::check_config(packet.codec, packet.frame()).ok())
        return {};
    const auto sorted = TRY(codec::sort_annex_b(packet.codec, packet.frame()));
    const auto record = codec::make_config(packet.codec, sorted);
    if (!record.ok())
        return {};
    has_converted_ = true;
    std::vector<std::uint8_t> body(packet.payload.data(), packet.payload.data() + packet.head);
    body.insert(body.end(), record->begin(), record->end());
    packet.payload = Slice::copy_of(body);
    return {};
}

}  // namespace live::media
