#include "wire/codec/decoder_config.hpp"

#include <string>

#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/flac.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

namespace live::wire::codec {

namespace {

// VP Codec ISO Media File Format Binding, "VP Codec Configuration Record"; some writers put a full box's four bytes in front.
constexpr std::size_t kVpRecordMin = 8;

Result<void> check_avc(Bytes record) {
    const auto config = TRY(parse_avc_config(record));
    if (config.sps.empty())
        return Error(Errc::malformed, "no sequence parameter set");
    TRY(parse_avc_sps(config.sps.front()));
    return {};
}

Result<void> check_hevc(Bytes record) {
    const auto config = TRY(parse_hevc_config(record));
    TRY(parse_hevc_sps(config.first_unit(HevcConfig::kSps)));
    return {};
}

Result<void> check_av1(Bytes record) {
    const auto config = TRY(parse_av1_config(record));
    if (!config.obus.empty())
        TRY(parse_av1_sequence_header(config.obus));
    return {};
}

template <class T>
Result<void> outcome_of(const Result<T>& parsed) {
    if (!parsed.ok())
        return parsed.error();
    return {};
}

}  // namespace

Result<void> check_config(Codec codec, Bytes record) {
    switch (codec) {
        case Codec::avc: return check_avc(record);
        case Codec::hevc: return check_hevc(record);
        case Codec::av1: return check_av1(record);
        case Codec::aac: return outcome_of(parse_aac_config(record));
        case Codec::opus: return outcome_of(parse_opus_head(record));
        case Codec::flac: return outcome_of(parse_flac_stream_info(record));
        case Codec::vp8:
        case Codec::vp9:
            if (record.size() < kVpRecordMin)
                return Error(Errc::need_more, "a record of " + std::to_string(record.size()) + " bytes");
            return {};
        default: return {};
    }
}

std::uint8_t nal_length_size_of(Codec codec, Bytes record) {
    constexpr std::uint8_t kUsual = 4;
    if (codec == Codec::avc) {
        const auto config = parse_avc_config(record);
        return config.ok() ? config->nal_length_size : kUsual;
    }
    if (codec == Codec::hevc) {
        const auto config = parse_hevc_config(record);
        return config.ok() ? config->nal_length_size : kUsual;
    }
    return kUsual;
}

}  // namespace live::wire::codec
