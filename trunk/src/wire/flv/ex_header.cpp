#include "wire/flv/ex_header.hpp"

#include <algorithm>
#include <string>

namespace live::wire::flv {

namespace {

constexpr std::uint8_t kTimestampOffsetNano = 0;
constexpr std::uint32_t kNanosecondsMax = 999'999;

}  // namespace

Result<void> read_mod_ex(ByteReader& in, ExHeader& header) {
    for (std::size_t count = 0; header.packet_type == kModEx; ++count) {
        if (count == kModExMax)
            return Error(Errc::limit, "more than " + std::to_string(kModExMax) + " modifier extensions");
        std::size_t size = std::size_t{TRY(in.u8())} + 1;
        if (size == 256)
            size = std::size_t{TRY(in.u16be())} + 1;
        ByteReader data(TRY(in.take(size)));
        const auto types = TRY(in.u8());
        header.packet_type = types & 0x0F;
        if (types >> 4 != kTimestampOffsetNano)
            continue;  // An extension of a later specification: its data is skipped, and the extended packet is still parsed.
        if (size < 3)
            return Error(Errc::malformed, "nanosecond offset of " + std::to_string(size) + " bytes, at least 3 are needed");
        header.timestamp_offset = std::chrono::nanoseconds(std::min(TRY(data.u24be()), kNanosecondsMax));
    }
    return {};
}

Result<void> read_multitrack_and_fourcc(ByteReader& in, std::uint8_t multitrack_code, ExHeader& header) {
    if (header.packet_type == multitrack_code) {
        const auto types = TRY(in.u8());
        if (types >> 4 > static_cast<std::uint8_t>(MultitrackType::many_tracks_many_codecs))
            return Error(Errc::unsupported, "multitrack type " + std::to_string(types >> 4) + " is reserved");
        header.multitrack = static_cast<MultitrackType>(types >> 4);
        header.packet_type = types & 0x0F;
        if (header.packet_type == multitrack_code || header.packet_type == kModEx)
            return Error(Errc::malformed, "a multitrack packet holds packet type " + std::to_string(header.packet_type));
    }
    if (header.multitrack != MultitrackType::many_tracks_many_codecs)
        header.fourcc = TRY(in.u32be());
    return {};
}

Result<ExTrack> read_track(ByteReader& in, const ExHeader& header) {
    ExTrack track;
    track.fourcc = header.fourcc;
    std::size_t size = in.remaining();
    if (header.multitrack) {
        if (header.multitrack == MultitrackType::many_tracks_many_codecs)
            track.fourcc = TRY(in.u32be());
        track.track_id = TRY(in.u8());
        size = header.multitrack == MultitrackType::one_track ? in.remaining() : TRY(in.u24be());
    }
    track.body = TRY(in.take(size));
    return track;
}

void write_one_track_header(BodyHeader& out, std::uint8_t first, std::uint8_t packet_type, std::uint32_t fourcc, int track_id) {
    constexpr auto kOneTrack = static_cast<std::uint8_t>(MultitrackType::one_track);
    out.u8(first)
        .u8(static_cast<std::uint8_t>(kOneTrack << 4 | packet_type))
        .u32be(fourcc)
        .u8(static_cast<std::uint8_t>(track_id));
}

}  // namespace live::wire::flv
