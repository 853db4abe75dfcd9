// Arbitrary frames, with or without a valid start. The output must be whole packets that a strict demuxer accepts. The input is a
// list of frames: a byte for the kind and the time step, two bytes of length, the frame.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "base/check.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/read/demuxer_fixture.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace {

using namespace live;
using namespace live::wire::ts;
namespace codec = live::wire::codec;

void begin(TsConverter& converter, std::vector<std::uint8_t>& out) {
    using codec::Codec;
    CHECK(converter.push_video(codec::frames::config(Codec::avc, codec::avc_vectors().front().record), out).ok());
    CHECK(converter.push_audio(codec::frames::config(Codec::aac, hex("1210")), out).ok() && out.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ByteReader in(Bytes(data, size));
    TsConverter converter;
    std::vector<std::uint8_t> out;
    TestDemuxer demuxer;
    MediaTime time{};
    if (size > 0 && data[0] % 4 == 0)
        begin(converter, out);
    while (!in.at_end()) {
        const auto what = in.u8();
        const auto length = in.u16be();
        if (!what.ok() || !length.ok())
            break;
        codec::Frame frame = codec::frames::any(MUST(in.take(std::min<std::size_t>(*length, in.remaining()))));
        time += std::chrono::milliseconds(*what / 2);
        frame.dts = time;
        out.clear();
        const auto pushed = *what % 2 == 0 ? converter.push_video(frame, out) : converter.push_audio(frame, out);
        CHECK(pushed.ok() || out.empty());
        demuxer.feed(out);
        if (*what % 16 == 15) {
            out.clear();
            converter.write_tables(out);
            demuxer.feed(out);
        }
    }
    demuxer.finish();
    for (std::size_t i = 1; i < demuxer.clocks.size(); ++i)
        CHECK(demuxer.clocks[i] > demuxer.clocks[i - 1]);
    return 0;
}
