#include "wire/codec/video/vp9.hpp"

#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::uint32_t kFrameMarker = 2;
constexpr std::uint32_t kSyncCode = 0x498342;
constexpr std::uint32_t kRgb = 7;

// color_config().
Result<void> skip_color(BitReader& in, unsigned profile) {
    if (profile >= 2)
        TRY(in.skip(1));  // ten_or_twelve_bit
    const bool has_subsampling = profile == 1 || profile == 3;
    if (TRY(in.bits(3)) != kRgb)
        return in.skip(has_subsampling ? 4 : 1);
    if (!has_subsampling)
        return Error(Errc::malformed, "VP9 in RGB needs profile 1 or 3");
    return in.skip(1);
}

}  // namespace

Result<SpsInfo> parse_vp9_key_frame(Bytes frame) {
    BitReader in(frame);
    if (TRY(in.bits(2)) != kFrameMarker)
        return Error(Errc::malformed, "no VP9 frame marker");
    const unsigned low = TRY(in.bits(1));
    const unsigned profile = TRY(in.bits(1)) << 1 | low;
    if (profile == 3 && TRY(in.flag()))
        return Error(Errc::malformed, "a reserved VP9 profile");
    const bool shows_existing = TRY(in.flag());
    if (shows_existing || TRY(in.flag()))
        return Error(Errc::not_found, "not a VP9 key frame");
    TRY(in.skip(2));  // show_frame, error_resilient_mode
    if (TRY(in.bits(24)) != kSyncCode)
        return Error(Errc::malformed, "no VP9 sync code");
    TRY(skip_color(in, profile));
    SpsInfo info;
    info.profile = static_cast<std::uint8_t>(profile);
    info.width = TRY(in.bits(16)) + 1;
    info.height = TRY(in.bits(16)) + 1;
    return info;
}

}  // namespace live::wire::codec
