// Arbitrary bytes as each kind of configuration record, as the parameter sets in it, and as SEI messages. A record that parses
// and has only one encoding must be written back the same.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/flac.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/codec/video/sei.hpp"
#include "wire/codec/video/vp9.hpp"

namespace {

using namespace live;
using namespace live::wire::codec;

void check_size(const Result<SpsInfo>& info) {
    if (info.ok())
        CHECK(info->width > 0 && info->height > 0 && info->width <= kPictureSideMax && info->height <= kPictureSideMax);
}

void check_order(Bytes sps) {
    const auto changed = without_reordering(sps);
    if (!changed.ok())
        return;
    const auto before = parse_avc_sps(sps);
    const auto after = parse_avc_sps(*changed);
    CHECK(before.ok() && after.ok() && before->width == after->width && before->height == after->height);
    CHECK(without_reordering(*changed).value() == *changed);
}

void check_records(Bytes input) {
    if (const auto config = parse_avc_config(input); config.ok()) {
        for (const Bytes sps : config->sps) {
            check_size(parse_avc_sps(sps));
            check_order(sps);
        }
        if (const auto made = make_avc_config(config->sps, config->pps); made.ok())
            CHECK(parse_avc_config(*made).ok());
        ByteWriter out;
        write_avc_config(out, *config);
        CHECK(out.size() == input.size() && parse_avc_config(out.written()).ok());
    }
    if (const auto config = parse_hevc_config(input); config.ok()) {
        check_size(parse_hevc_sps(config->first_unit(HevcConfig::kSps)));
        if (const auto made = make_hevc_config({}, std::vector{config->first_unit(HevcConfig::kSps)}, {}); made.ok())
            CHECK(parse_hevc_config(*made).ok());
        ByteWriter out;
        write_hevc_config(out, *config);
        CHECK(parse_hevc_config(out.written()).ok());
    }
    if (const auto config = parse_av1_config(input); config.ok()) {
        check_size(parse_av1_sequence_header(config->obus));
        if (const auto made = make_av1_config(config->obus); made.ok())
            CHECK(parse_av1_config(*made).ok());
        ByteWriter out;
        write_av1_config(out, *config);
        CHECK(parse_av1_config(out.written()).ok());
    }
    if (const auto config = parse_aac_config(input); config.ok() && config->object_type < 31 && config->channels <= 6) {
        ByteWriter out;
        write_aac_config(out, *config);
        CHECK(parse_aac_config(out.written()).value() == *config);
    }
    if (const auto head = parse_opus_head(input); head.ok()) {
        ByteWriter out;
        write_opus_head(out, *head);
        CHECK(parse_opus_head(out.written()).ok());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes input(data, size);
    check_records(input);
    check_size(parse_avc_sps(input));
    check_order(input);
    (void)is_avc_b_slice(input);
    (void)is_timing_only_sei(input, 1);
    (void)is_timing_only_sei(input, 2);
    check_size(parse_hevc_sps(input));
    check_size(parse_av1_sequence_header(input));
    check_size(parse_vp9_key_frame(input));
    if (const auto info = parse_flac_stream_info(input); info.ok())
        CHECK(info->sample_rate > 0 && info->channels > 0 && info->block.size() == kFlacStreamInfoBytes);
    return 0;
}
