// VideoFrames: the access units of one H.264, HEVC or AV1 stream as frames: parameter sets become the configuration, NAL units
// get lengths, and each frame a decoding time. The opposite direction is access_unit.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/codec/frame.hpp"
#include "wire/codec/video/annex_b.hpp"
#include "wire/ts/read/pes_reader.hpp"
#include "wire/ts/read/psi_reader.hpp"

namespace live::wire::ts {

// The times of a PES header, on one line that does not wrap.
struct UnitTimes {
    std::optional<MediaTime> pts;
    std::optional<MediaTime> dts;
};

class VideoFrames {
public:
    static constexpr std::size_t kObusMax = 1'024;  // in one access unit

    explicit VideoFrames(StreamFormat format) : format_(format) {}

    // Appends the frame of the unit that begins at `offset` of `unit`, which is changed in place. A new configuration precedes
    // it. Without a decoding time it is the presentation time; without any, that of the frame before and its distance. Nothing
    // before the first configuration. Errc::malformed, Errc::limit, ...: this unit is lost.
    Result<void> push(PesAssembler::Unit unit, std::size_t offset, const UnitTimes& times, std::vector<codec::Frame>& out);

private:
    Result<void> push_nal_units(PesAssembler::Unit unit, std::size_t offset, std::vector<codec::Frame>& out);
    Result<void> push_obus(Bytes unit, std::vector<codec::Frame>& out);
    Result<void> set_config(std::vector<std::uint8_t> record, std::vector<codec::Frame>& out);
    Result<std::vector<std::uint8_t>> make_record(codec::AnnexBUnits sets) const;
    bool set_times(const UnitTimes& times);
    codec::Frame frame_of(Slice data, bool key) const;
    codec::Codec codec() const;

    StreamFormat format_;
    std::vector<std::uint8_t> config_;
    std::optional<MediaTime> dts_;
    MediaTime cts_{};
    MediaTime distance_{};
};

}  // namespace live::wire::ts
