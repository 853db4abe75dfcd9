#include "wire/codec/video/avc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"
#include "wire/codec/bit_writer.hpp"

namespace live::wire::codec {

namespace {

constexpr std::uint8_t kSpsType = 7;
constexpr std::size_t kSpsMax = 31;
constexpr std::size_t kPpsMax = 255;
constexpr std::uint32_t kMacroblock = 16;
constexpr std::uint8_t kExtendedSar = 255;
constexpr std::uint8_t kBaseline = 66;           // has no B-frames
constexpr std::uint32_t kOrderOfDecoding = 2;    // the pic_order_cnt_type where output order equals decoding order
constexpr std::uint32_t kReferencesMax = 16;     // H.264, A.3.1
constexpr unsigned kFlagsBeforeRestriction = 8;  // of usability information whose fields are all absent

// Profiles whose parameter set contains the chroma format (H.264, 7.3.2.1.1).
constexpr std::array<std::uint8_t, 13> kChromaProfiles = {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135};

Result<void> read_parameter_sets(ByteReader& in, std::size_t count, std::vector<Bytes>& sets) {
    for (std::size_t i = 0; i < count; ++i)
        sets.push_back(TRY(in.take(TRY(in.u16be()))));
    return {};
}

// H.264, 7.3.2.1.1.1; the list is discarded.
Result<void> skip_scaling_list(BitReader& in, int size) {
    std::int64_t last = 8;
    std::int64_t next = 8;
    for (int i = 0; i < size && next != 0; ++i) {
        next = (last + TRY(in.se()) + 256) % 256;
        if (next != 0)
            last = next;
    }
    return {};
}

// Reads the fields present only in high profiles; returns the chroma format.
Result<std::uint32_t> read_chroma(BitReader& in, bool& separate_planes) {
    const auto format = TRY(in.ue_up_to(3, "chroma_format_idc"));
    if (format == 3)
        separate_planes = TRY(in.flag());
    TRY(in.ue_up_to(6, "bit_depth_luma_minus8"));
    TRY(in.ue_up_to(6, "bit_depth_chroma_minus8"));
    TRY(in.skip(1));
    if (TRY(in.flag()))
        for (int list = 0; list < (format == 3 ? 12 : 8); ++list)
            if (TRY(in.flag()))
                TRY(skip_scaling_list(in, list < 6 ? 16 : 64));
    return format;
}

// Returns pic_order_cnt_type.
Result<std::uint32_t> read_picture_order(BitReader& in) {
    TRY(in.ue_up_to(12, "log2_max_frame_num_minus4"));
    const auto type = TRY(in.ue_up_to(2, "pic_order_cnt_type"));
    if (type == 0) {
        TRY(in.ue_up_to(12, "log2_max_pic_order_cnt_lsb_minus4"));
    } else if (type == 1) {
        TRY(in.skip(1));
        TRY(in.se());
        TRY(in.se());
        const auto cycle = TRY(in.ue_up_to(255, "num_ref_frames_in_pic_order_cnt_cycle"));
        for (std::uint32_t i = 0; i < cycle; ++i)
            TRY(in.se());
    }
    return type;
}

// H.264, E.1.1, up to the timing fields.
Result<void> skip_to_timing(BitReader& in) {
    if (TRY(in.flag()) && TRY(in.bits(8)) == kExtendedSar)
        TRY(in.skip(32));
    if (TRY(in.flag()))
        TRY(in.skip(1));
    if (TRY(in.flag())) {
        TRY(in.skip(4));
        if (TRY(in.flag()))
            TRY(in.skip(24));
    }
    if (TRY(in.flag())) {
        TRY(in.ue());
        TRY(in.ue());
    }
    return {};
}

Result<std::optional<double>> read_frame_rate(BitReader& in) {
    TRY(skip_to_timing(in));
    if (!TRY(in.flag()))
        return std::optional<double>();
    const auto units = TRY(in.bits(32));
    const auto scale = TRY(in.bits(32));
    if (units == 0 || scale == 0)
        return std::optional<double>();
    const double rate = static_cast<double>(scale) / (2.0 * units);  // the clock ticks once per field
    // Encoders of variable frame rates, such as libx264, write the resolution of their times here: 1,000 for FLV.
    constexpr double kRateMax = 480;
    return rate <= kRateMax ? std::optional(rate) : std::nullopt;
}

struct Crop {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
};

// Total cropping left and right, top and bottom, in luma samples. Each side is bounded first, to prevent overflow.
Result<Crop> read_crop(BitReader& in, std::uint32_t unit_x, std::uint32_t unit_y) {
    const auto left = TRY(in.ue_up_to(kPictureSideMax, "frame_crop_left_offset"));
    const auto right = TRY(in.ue_up_to(kPictureSideMax, "frame_crop_right_offset"));
    const auto top = TRY(in.ue_up_to(kPictureSideMax, "frame_crop_top_offset"));
    const auto bottom = TRY(in.ue_up_to(kPictureSideMax, "frame_crop_bottom_offset"));
    return Crop{(left + right) * unit_x, (top + bottom) * unit_y};
}

// A parameter set up to its usability information, with the bit positions of the fields that without_reordering() changes.
struct Sps {
    SpsInfo info;
    std::uint32_t order_type = 0;  // pic_order_cnt_type
    std::uint32_t references = 0;  // max_num_ref_frames
    std::size_t gaps_at = 0;       // gaps_in_frame_num_value_allowed_flag
};

// `end` is the size of the parameter set in bits.
Result<void> read_size(BitReader& in, std::size_t end, std::uint32_t chroma_format, bool separate_planes, Sps& sps) {
    sps.references = TRY(in.ue());
    sps.gaps_at = end - in.remaining();
    TRY(in.skip(1));
    SpsInfo& info = sps.info;
    const auto columns = TRY(in.ue_up_to(kPictureSideMax / kMacroblock - 1, "pic_width_in_mbs_minus1")) + 1;
    const auto rows = TRY(in.ue_up_to(kPictureSideMax / kMacroblock - 1, "pic_height_in_map_units_minus1")) + 1;
    const bool frames_only = TRY(in.flag());
    if (!frames_only)
        TRY(in.skip(1));
    TRY(in.skip(1));
    const std::uint32_t fields = frames_only ? 1 : 2;
    info.width = columns * kMacroblock;
    info.height = rows * kMacroblock * fields;
    if (info.height > kPictureSideMax)
        return Error(Errc::malformed, "a frame of " + std::to_string(info.height) + " lines");
    if (TRY(in.flag())) {
        // H.264, table 6-1: 4:2:0 chroma is subsampled in both directions, 4:2:2 only horizontally.
        const bool subsampled_x = !separate_planes && (chroma_format == 1 || chroma_format == 2);
        const bool subsampled_y = !separate_planes && chroma_format == 1;
        const Crop crop = TRY(read_crop(in, subsampled_x ? 2 : 1, (subsampled_y ? 2 : 1) * fields));
        if (crop.x >= info.width || crop.y >= info.height)
            return Error(Errc::malformed, "the cropping leaves nothing of the frame");
        info.width -= crop.x;
        info.height -= crop.y;
    }
    return {};
}

// `in` is a complete parameter set with its header byte, without emulation prevention; left at vui_parameters_present_flag.
Result<Sps> read_sps(BitReader& in) {
    const std::size_t end = in.remaining();
    if (const auto type = TRY(in.bits(8)) & 0x1F; type != kSpsType)
        return Error(Errc::malformed, "NAL type " + std::to_string(type) + " is no sequence parameter set");
    Sps sps;
    sps.info.profile = static_cast<std::uint8_t>(TRY(in.bits(8)));
    TRY(in.skip(8));
    sps.info.level = static_cast<std::uint8_t>(TRY(in.bits(8)));
    TRY(in.ue_up_to(31, "seq_parameter_set_id"));
    std::uint32_t chroma_format = 1;
    bool separate_planes = false;
    if (std::ranges::find(kChromaProfiles, sps.info.profile) != kChromaProfiles.end())
        chroma_format = TRY(read_chroma(in, separate_planes));
    sps.order_type = TRY(read_picture_order(in));
    TRY(read_size(in, end, chroma_format, separate_planes, sps));
    return sps;
}

// H.264, E.1.2.
Result<void> skip_hrd(BitReader& in) {
    const auto count = TRY(in.ue_up_to(31, "cpb_cnt_minus1")) + 1;
    TRY(in.skip(8));
    for (std::uint32_t i = 0; i < count; ++i) {
        TRY(in.ue());
        TRY(in.ue());
        TRY(in.skip(1));
    }
    return in.skip(20);
}

// From the start of the usability information to bitstream_restriction_flag (H.264, E.1.1).
Result<void> skip_to_restriction(BitReader& in) {
    constexpr std::size_t kTimingBits = 65;
    TRY(skip_to_timing(in));
    if (TRY(in.flag()))
        TRY(in.skip(kTimingBits));
    const bool has_nal_hrd = TRY(in.flag());
    if (has_nal_hrd)
        TRY(skip_hrd(in));
    const bool has_vcl_hrd = TRY(in.flag());
    if (has_vcl_hrd)
        TRY(skip_hrd(in));
    return in.skip(has_nal_hrd || has_vcl_hrd ? 2 : 1);
}

// From just after bitstream_restriction_flag to max_num_reorder_frames.
Result<void> skip_to_reordering(BitReader& in) {
    TRY(in.skip(1));
    for (int i = 0; i < 4; ++i)
        TRY(in.ue());
    return {};
}

}  // namespace

Result<AvcConfig> parse_avc_config(Bytes record) {
    ByteReader in(record);
    if (const auto version = TRY(in.u8()); version != 1)
        return Error(Errc::unsupported, "AVC configuration version " + std::to_string(version));
    AvcConfig config;
    config.profile = TRY(in.u8());
    config.compatibility = TRY(in.u8());
    config.level = TRY(in.u8());
    config.nal_length_size = static_cast<std::uint8_t>((TRY(in.u8()) & 3) + 1);
    if (config.nal_length_size == 3)
        return Error(Errc::malformed, "NAL lengths of 3 bytes");
    TRY(read_parameter_sets(in, TRY(in.u8()) & 0x1F, config.sps));
    TRY(read_parameter_sets(in, TRY(in.u8()), config.pps));
    config.extension = in.rest();
    return config;
}

void write_avc_config(ByteWriter& out, const AvcConfig& config) {
    CHECK(config.sps.size() <= kSpsMax && config.pps.size() <= kPpsMax);
    out.u8(1).u8(config.profile).u8(config.compatibility).u8(config.level);
    out.u8(static_cast<std::uint8_t>(0xFC | (config.nal_length_size - 1)));
    out.u8(static_cast<std::uint8_t>(0xE0 | config.sps.size()));
    for (const Bytes set : config.sps)
        out.u16be(static_cast<std::uint16_t>(set.size())).bytes(set);
    out.u8(static_cast<std::uint8_t>(config.pps.size()));
    for (const Bytes set : config.pps)
        out.u16be(static_cast<std::uint16_t>(set.size())).bytes(set);
    out.bytes(config.extension);
}

Result<std::vector<std::uint8_t>> make_avc_config(std::span<const Bytes> sps, std::span<const Bytes> pps) {
    if (sps.empty() || sps.size() > kSpsMax || pps.size() > kPpsMax)
        return Error(Errc::limit, "no AVC configuration holds " + std::to_string(sps.size()) + " and " +
                                      std::to_string(pps.size()) + " parameter sets");
    for (const auto sets : {sps, pps})
        for (const Bytes set : sets)
            if (set.size() > 0xFFFF)
                return Error(Errc::limit, "a parameter set of " + std::to_string(set.size()) + " bytes");
    const auto payload = without_emulation_prevention(sps.front());
    BitReader in(payload);
    if (const auto type = TRY(in.bits(8)) & 0x1F; type != kSpsType)
        return Error(Errc::malformed, "NAL type " + std::to_string(type) + " is no sequence parameter set");
    AvcConfig config;
    config.profile = static_cast<std::uint8_t>(TRY(in.bits(8)));
    config.compatibility = static_cast<std::uint8_t>(TRY(in.bits(8)));
    config.level = static_cast<std::uint8_t>(TRY(in.bits(8)));
    config.sps.assign(sps.begin(), sps.end());
    config.pps.assign(pps.begin(), pps.end());
    TRY(in.ue_up_to(31, "seq_parameter_set_id"));
    ByteWriter extension;
    if (std::ranges::find(kChromaProfiles, config.profile) != kChromaProfiles.end()) {
        const auto format = TRY(in.ue_up_to(3, "chroma_format_idc"));
        if (format == 3)
            TRY(in.skip(1));
        const auto luma = TRY(in.ue_up_to(6, "bit_depth_luma_minus8"));
        const auto chroma = TRY(in.ue_up_to(6, "bit_depth_chroma_minus8"));
        extension.u8(static_cast<std::uint8_t>(0xFC | format)).u8(static_cast<std::uint8_t>(0xF8 | luma));
        extension.u8(static_cast<std::uint8_t>(0xF8 | chroma)).u8(0);
    }
    config.extension = extension.written();
    ByteWriter out;
    write_avc_config(out, config);
    return out.release();
}

Result<SpsInfo> parse_avc_sps(Bytes nal) {
    const auto payload = without_emulation_prevention(nal);
    BitReader in(payload);
    SpsInfo info = TRY(read_sps(in)).info;
    if (TRY(in.flag())) {
        // Some cameras truncate the usability information. The size is known by then, and the frame rate is optional.
        const auto rate = read_frame_rate(in);
        if (rate.ok())
            info.frames_per_second = *rate;
    }
    return info;
}

Result<std::vector<std::uint8_t>> without_reordering(Bytes nal) {
    const auto payload = without_emulation_prevention(nal);
    const std::size_t end = payload.size() * 8;
    BitReader in(payload);
    const Sps sps = TRY(read_sps(in));
    if (sps.references > kReferencesMax)
        return Error(Errc::malformed, "max_num_ref_frames is " + std::to_string(sps.references));
    const std::size_t usability_at = end - in.remaining();
    const bool has_usability = TRY(in.flag());
    if (has_usability)
        TRY(skip_to_restriction(in));
    const std::size_t restriction_at = end - in.remaining();
    const bool has_restriction = has_usability && TRY(in.flag());
    std::size_t order_at = 0;
    bool is_in_order = sps.info.profile == kBaseline || sps.order_type == kOrderOfDecoding;
    if (has_restriction) {
        TRY(skip_to_reordering(in));
        order_at = end - in.remaining();
        const bool is_promised = TRY(in.ue()) == 0;
        if (TRY(in.ue()) == sps.references && is_promised)
            return std::vector<std::uint8_t>(nal.begin(), nal.end());
        is_in_order |= is_promised;
    }
    BitWriter out;
    out.copy(payload, 0, sps.gaps_at);
    if (is_in_order)
        out.copy(payload, sps.gaps_at, sps.gaps_at + 1);
    else
        out.flag(true);
    out.copy(payload, sps.gaps_at + 1, usability_at).flag(true);
    if (has_restriction)
        out.copy(payload, usability_at + 1, order_at);
    else if (has_usability)
        out.copy(payload, usability_at + 1, restriction_at);
    else
        out.bits(0, kFlagsBeforeRestriction);
    if (!has_restriction)  // The values inferred when these fields are absent, written explicitly (H.264, E.2.1).
        out.flag(true).flag(true).ue(2).ue(1).ue(16).ue(16);
    out.ue(0).ue(sps.references).trailing_bits();
    return with_emulation_prevention(out.written());
}

Result<bool> is_avc_b_slice(Bytes nal) {
    // Two codes of at most 65 bits each after the header, including emulation prevention bytes.
    constexpr std::size_t kEnough = 28;
    const auto head = without_emulation_prevention(nal.first(std::min(nal.size(), kEnough)));
    BitReader in(head);
    TRY(in.skip(8));
    TRY(in.ue());
    constexpr std::uint32_t kB = 1;  // slice_type 1 or 6; 6 means that all slices of the picture are B
    return TRY(in.ue_up_to(9, "slice_type")) % 5 == kB;
}

std::string avc_rtp_format(const AvcConfig& config) {
    return fmt::format("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id={:02x}{:02x}{:02x}", config.profile,
                       config.compatibility, config.level);
}

std::string_view avc_profile_name(std::uint8_t profile) {
    switch (profile) {
        case 66: return "Baseline";
        case 77: return "Main";
        case 88: return "Extended";
        case 100: return "High";
        case 110: return "High10";
        case 122: return "High422";
        case 244: return "High444";
        default: return "Other";
    }
}

}  // namespace live::wire::codec
