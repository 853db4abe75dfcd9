#include "wire/ts/read/video_frames.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "wire/codec/bit_reader.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

namespace live::wire::ts {

using codec::Codec;
using codec::Content;
using codec::Frame;

namespace {

constexpr MediaTime kDistanceMax = 1s;

// "Carriage of AV1 in MPEG-2 TS", 1.0: each OBU behind a start code, with emulation prevention. Others write the OBUs as they
// are in files.
bool has_start_codes(Bytes unit) { return unit.size() > 3 && unit[0] == 0 && unit[1] == 0 && unit[2] <= 1; }

Result<void> write_low_overhead(Bytes unit, ByteWriter& out, bool& key) {
    std::size_t count = 0;
    for (ByteReader in(unit); !in.at_end();) {
        if (++count > VideoFrames::kObusMax)
            return Error(Errc::limit, "more than " + std::to_string(VideoFrames::kObusMax) + " OBUs in an access unit");
        const codec::Obu obu = TRY(codec::read_obu(in));
        if (obu.type == codec::Obu::kTemporalDelimiter)
            continue;
        key = key || obu.type == codec::Obu::kSequenceHeader;
        codec::write_obu(out, obu);
    }
    return {};
}

}  // namespace

Codec VideoFrames::codec() const {
    return format_ == StreamFormat::avc ? Codec::avc : format_ == StreamFormat::hevc ? Codec::hevc : Codec::av1;
}

Result<void> VideoFrames::push(PesAssembler::Unit unit, std::size_t offset, const UnitTimes& times, std::vector<Frame>& out) {
    if (!set_times(times))
        return Error(Errc::malformed, "a picture without a time");
    if (format_ == StreamFormat::av1)
        return push_obus(unit.bytes.subspan(offset), out);
    return push_nal_units(std::move(unit), offset, out);
}

bool VideoFrames::set_times(const UnitTimes& times) {
    if (!times.pts) {
        if (!dts_)
            return false;
        dts_ = *dts_ + distance_;
        return true;
    }
    const MediaTime dts = times.dts.value_or(*times.pts);
    if (dts_ && dts > *dts_ && dts - *dts_ < kDistanceMax)
        distance_ = dts - *dts_;
    dts_ = dts;
    cts_ = *times.pts - dts;
    return true;
}

Frame VideoFrames::frame_of(Slice data, bool key) const {
    const bool shares_memory = data.memory_bytes() <= PesAssembler::kBlockBytes;
    return {.codec = codec(),
            .content = Content::frame,
            .key = key,
            .track = {},
            .dts = *dts_,
            .cts = cts_,
            .data = std::move(data),
            .shares_memory = shares_memory};
}

Result<void> VideoFrames::set_config(std::vector<std::uint8_t> record, std::vector<Frame>& out) {
    if (record == config_)
        return {};
    config_ = std::move(record);
    out.push_back(frame_of(Slice::copy_of(config_), true));
    out.back().content = Content::config;
    out.back().cts = {};
    return {};
}

// Parameter sets that are missing from the unit keep their newest version.
Result<std::vector<std::uint8_t>> VideoFrames::make_record(codec::AnnexBUnits sets) const {
    if (!config_.empty() && format_ == StreamFormat::avc) {
        const auto known = TRY(codec::parse_avc_config(config_));
        if (sets.sps.empty())
            sets.sps = known.sps;
        if (sets.pps.empty())
            sets.pps = known.pps;
    } else if (!config_.empty()) {
        const auto known = TRY(codec::parse_hevc_config(config_));
        for (const codec::HevcArray& array : known.arrays) {
            auto& of_type = array.type == codec::HevcConfig::kVps   ? sets.vps
                            : array.type == codec::HevcConfig::kSps ? sets.sps
                                                                    : sets.pps;
            if (of_type.empty())
                of_type = array.units;
        }
    }
    return codec::make_config(codec(), sets);
}

Result<void> VideoFrames::push_nal_units(PesAssembler::Unit unit, std::size_t offset, std::vector<Frame>& out) {
    codec::AnnexBUnits units = TRY(codec::sort_annex_b(codec(), unit.bytes.subspan(offset)));
    if (!units.vps.empty() || !units.sps.empty() || !units.pps.empty()) {
        auto record = make_record({units.vps, units.sps, units.pps, {}, false});
        if (record.ok())
            TRY(set_config(*std::move(record), out));
        else if (config_.empty() && record.code() != Errc::not_found)
            return std::move(record).error();
    }
    if (config_.empty() || units.others.empty())
        return {};
    const std::vector<Bytes> others = std::move(units.others);
    out.push_back(frame_of(codec::with_lengths_in_place(unit.slice, unit.bytes, others), units.key));
    return {};
}

Result<void> VideoFrames::push_obus(Bytes unit, std::vector<Frame>& out) {
    ByteWriter obus;
    bool key = false;
    if (has_start_codes(unit)) {
        std::vector<Bytes> coded;
        TRY(codec::split_annex_b(unit, coded));
        for (const Bytes one : coded)
            TRY(write_low_overhead(codec::without_emulation_prevention(one), obus, key));
    } else {
        TRY(write_low_overhead(unit, obus, key));
    }
    if (key)
        TRY(set_config(TRY(codec::make_av1_config(obus.written())), out));
    if (!config_.empty() && obus.size() > 0)
        out.push_back(frame_of(Slice::copy_of(obus.written()), key));
    return {};
}

}  // namespace live::wire::ts
