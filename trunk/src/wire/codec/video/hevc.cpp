#include "wire/codec/video/hevc.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

// H.265, 7.3.3 "Profile, tier and level syntax": 88 bits of profile, then 8 of level.
constexpr std::size_t kSubLayerProfileBits = 88;
constexpr std::size_t kSubLayerLevelBits = 8;

Result<void> read_profile_tier_level(BitReader& in, std::uint32_t sub_layers, SpsInfo& info) {
    TRY(in.skip(3));
    info.profile = static_cast<std::uint8_t>(TRY(in.bits(5)));
    TRY(in.skip(32 + 48));
    info.level = static_cast<std::uint8_t>(TRY(in.bits(8)));
    if (sub_layers == 0)
        return {};
    std::size_t skipped = 0;
    for (std::uint32_t layer = 0; layer < 8; ++layer) {
        const auto present = TRY(in.bits(2));  // Reserved bits after the last layer.
        if (layer < sub_layers)
            skipped += ((present & 2) != 0 ? kSubLayerProfileBits : 0) + ((present & 1) != 0 ? kSubLayerLevelBits : 0);
    }
    return in.skip(skipped);
}

// H.265, 7.4.3.2.1: the conformance window is in units of chroma samples.
Result<void> cut_conformance_window(BitReader& in, std::uint32_t chroma_format, SpsInfo& info) {
    const std::uint32_t unit_x = chroma_format == 1 || chroma_format == 2 ? 2 : 1;
    const std::uint32_t unit_y = chroma_format == 1 ? 2 : 1;
    const auto left = TRY(in.ue_up_to(kPictureSideMax, "conf_win_left_offset"));
    const auto right = TRY(in.ue_up_to(kPictureSideMax, "conf_win_right_offset"));
    const auto top = TRY(in.ue_up_to(kPictureSideMax, "conf_win_top_offset"));
    const auto bottom = TRY(in.ue_up_to(kPictureSideMax, "conf_win_bottom_offset"));
    const std::uint32_t cut_x = (left + right) * unit_x;
    const std::uint32_t cut_y = (top + bottom) * unit_y;
    if (cut_x >= info.width || cut_y >= info.height)
        return Error(Errc::malformed, "the conformance window leaves nothing of the frame");
    info.width -= cut_x;
    info.height -= cut_y;
    return {};
}

// The fields of a record that repeat its sequence parameter set (H.265, 7.3.2.2.1 and 7.3.3).
Result<HevcConfig> describe(Bytes sps) {
    const auto payload = without_emulation_prevention(sps);
    BitReader in(payload);
    if (const auto type = TRY(in.bits(16)) >> 9 & 0x3F; type != HevcConfig::kSps)
        return Error(Errc::malformed, "NAL type " + std::to_string(type) + " is no sequence parameter set");
    TRY(in.skip(4));
    const auto sub_layers = TRY(in.bits(3));
    if (sub_layers > 6)
        return Error(Errc::malformed, "sps_max_sub_layers_minus1 is 7");
    const auto is_nested = TRY(in.bits(1));
    HevcConfig config;
    config.flags = static_cast<std::uint8_t>((sub_layers + 1) << 1 | is_nested);
    // The same bits are read twice: first the fields needed for the record, then the complete structure.
    BitReader profile = in;
    config.profile_space = static_cast<std::uint8_t>(TRY(profile.bits(2)));
    config.high_tier = TRY(profile.flag());
    config.profile = static_cast<std::uint8_t>(TRY(profile.bits(5)));
    config.compatibility = TRY(profile.bits(32));
    config.constraints = std::uint64_t{TRY(profile.bits(32))} << 16;
    config.constraints |= TRY(profile.bits(16));
    config.level = static_cast<std::uint8_t>(TRY(profile.bits(8)));
    SpsInfo info;
    TRY(read_profile_tier_level(in, sub_layers, info));
    TRY(in.ue_up_to(15, "sps_seq_parameter_set_id"));
    config.chroma_format = static_cast<std::uint8_t>(TRY(in.ue_up_to(3, "chroma_format_idc")));
    if (config.chroma_format == 3)
        TRY(in.skip(1));
    TRY(in.ue_up_to(kPictureSideMax, "pic_width_in_luma_samples"));
    TRY(in.ue_up_to(kPictureSideMax, "pic_height_in_luma_samples"));
    if (TRY(in.flag()))
        for (int side = 0; side < 4; ++side)
            TRY(in.ue_up_to(kPictureSideMax, "conf_win_offset"));
    config.bit_depth_luma = static_cast<std::uint8_t>(8 + TRY(in.ue_up_to(7, "bit_depth_luma_minus8")));
    config.bit_depth_chroma = static_cast<std::uint8_t>(8 + TRY(in.ue_up_to(7, "bit_depth_chroma_minus8")));
    return config;
}

}  // namespace

Bytes HevcConfig::first_unit(std::uint8_t type) const {
    for (const HevcArray& array : arrays)
        if (array.type == type && !array.units.empty())
            return array.units.front();
    return {};
}

Result<HevcConfig> parse_hevc_config(Bytes record) {
    ByteReader in(record);
    // The specification requires 1; encoders wrote 0 while it was a draft, with the same layout.
    if (const auto version = TRY(in.u8()); version > 1)
        return Error(Errc::unsupported, "HEVC configuration version " + std::to_string(version));
    HevcConfig config;
    const auto profile = TRY(in.u8());
    config.profile_space = profile >> 6;
    config.high_tier = (profile & 0x20) != 0;
    config.profile = profile & 0x1F;
    config.compatibility = TRY(in.u32be());
    config.constraints = std::uint64_t{TRY(in.u32be())} << 16;
    config.constraints |= TRY(in.u16be());
    config.level = TRY(in.u8());
    config.min_spatial_segmentation = TRY(in.u16be()) & 0x0FFF;
    config.parallelism = TRY(in.u8()) & 3;
    config.chroma_format = TRY(in.u8()) & 3;
    config.bit_depth_luma = static_cast<std::uint8_t>((TRY(in.u8()) & 7) + 8);
    config.bit_depth_chroma = static_cast<std::uint8_t>((TRY(in.u8()) & 7) + 8);
    config.average_frame_rate = TRY(in.u16be());
    const auto flags = TRY(in.u8());
    config.flags = flags >> 2;
    config.nal_length_size = static_cast<std::uint8_t>((flags & 3) + 1);
    if (config.nal_length_size == 3)
        return Error(Errc::malformed, "NAL lengths of 3 bytes");
    const auto arrays = TRY(in.u8());
    std::size_t units = 0;
    for (int i = 0; i < arrays; ++i) {
        const auto type = TRY(in.u8());
        HevcArray array{static_cast<std::uint8_t>(type & 0x3F), (type & 0x80) != 0, {}};
        const auto count = TRY(in.u16be());
        units += count;
        if (units > HevcConfig::kUnitsMax)
            return Error(Errc::limit,
                         "more than " + std::to_string(HevcConfig::kUnitsMax) + " NAL units in an HEVC configuration");
        for (int unit = 0; unit < count; ++unit)
            array.units.push_back(TRY(in.take(TRY(in.u16be()))));
        config.arrays.push_back(std::move(array));
    }
    return config;
}

void write_hevc_config(ByteWriter& out, const HevcConfig& config) {
    CHECK(config.arrays.size() <= 255);
    const int profile = config.profile_space << 6 | (config.high_tier ? 0x20 : 0) | config.profile;
    out.u8(1).u8(static_cast<std::uint8_t>(profile)).u32be(config.compatibility);
    out.u32be(static_cast<std::uint32_t>(config.constraints >> 16)).u16be(static_cast<std::uint16_t>(config.constraints));
    out.u8(config.level).u16be(static_cast<std::uint16_t>(0xF000 | config.min_spatial_segmentation));
    out.u8(static_cast<std::uint8_t>(0xFC | config.parallelism)).u8(static_cast<std::uint8_t>(0xFC | config.chroma_format));
    out.u8(static_cast<std::uint8_t>(0xF8 | (config.bit_depth_luma - 8)));
    out.u8(static_cast<std::uint8_t>(0xF8 | (config.bit_depth_chroma - 8)));
    out.u16be(config.average_frame_rate);
    out.u8(static_cast<std::uint8_t>(config.flags << 2 | (config.nal_length_size - 1)));
    out.u8(static_cast<std::uint8_t>(config.arrays.size()));
    for (const HevcArray& array : config.arrays) {
        out.u8(static_cast<std::uint8_t>((array.complete ? 0x80 : 0) | array.type));
        out.u16be(static_cast<std::uint16_t>(array.units.size()));
        for (const Bytes unit : array.units)
            out.u16be(static_cast<std::uint16_t>(unit.size())).bytes(unit);
    }
}

Result<std::vector<std::uint8_t>> make_hevc_config(std::span<const Bytes> vps, std::span<const Bytes> sps,
                                                   std::span<const Bytes> pps) {
    const std::size_t units = vps.size() + sps.size() + pps.size();
    if (sps.empty() || units > HevcConfig::kUnitsMax)
        return Error(Errc::limit, "no HEVC configuration holds " + std::to_string(units) + " parameter sets");
    HevcConfig config = TRY(describe(sps.front()));
    const auto add = [&config](std::uint8_t type, std::span<const Bytes> sets) {
        bool fits = true;
        for (const Bytes set : sets)
            fits = fits && set.size() <= 0xFFFF;
        if (!sets.empty())
            config.arrays.push_back({type, false, {sets.begin(), sets.end()}});
        return fits;
    };
    const bool fits = add(HevcConfig::kVps, vps) && add(HevcConfig::kSps, sps) && add(HevcConfig::kPps, pps);
    if (!fits)
        return Error(Errc::limit, "a parameter set of more than 65,535 bytes");
    ByteWriter out;
    write_hevc_config(out, config);
    return out.release();
}

Result<SpsInfo> parse_hevc_sps(Bytes nal) {
    const auto payload = without_emulation_prevention(nal);
    BitReader in(payload);
    if (const auto type = TRY(in.bits(16)) >> 9 & 0x3F; type != HevcConfig::kSps)
        return Error(Errc::malformed, "NAL type " + std::to_string(type) + " is no sequence parameter set");
    TRY(in.skip(4));
    const auto sub_layers = TRY(in.bits(3));
    if (sub_layers > 6)
        return Error(Errc::malformed, "sps_max_sub_layers_minus1 is 7");
    TRY(in.skip(1));
    SpsInfo info;
    TRY(read_profile_tier_level(in, sub_layers, info));
    TRY(in.ue_up_to(15, "sps_seq_parameter_set_id"));
    const auto chroma_format = TRY(in.ue_up_to(3, "chroma_format_idc"));
    if (chroma_format == 3)
        TRY(in.skip(1));
    info.width = TRY(in.ue_up_to(kPictureSideMax, "pic_width_in_luma_samples"));
    info.height = TRY(in.ue_up_to(kPictureSideMax, "pic_height_in_luma_samples"));
    if (info.width == 0 || info.height == 0)
        return Error(Errc::malformed, "a frame without width or height");
    if (TRY(in.flag()))
        TRY(cut_conformance_window(in, chroma_format, info));
    return info;
}

}  // namespace live::wire::codec
