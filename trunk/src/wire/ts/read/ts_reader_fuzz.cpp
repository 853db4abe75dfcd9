// Arbitrary bytes as a transport stream; after a zero, as payloads of packets that are written here, behind the tables of a
// program with every format, so that the parsers behind are reached. Nothing aborts, and memory is bounded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "base/check.hpp"
#include "wire/codec/audio/ac3.hpp"
#include "wire/codec/audio/latm.hpp"
#include "wire/ts/read/pes_reader.hpp"
#include "wire/ts/read/ts_builder_fixture.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace {

using namespace live;
using namespace live::wire::ts;

constexpr std::size_t kStreams = 11;

void drain(TsReader& reader) {
    while (const auto unit = reader.next())
        CHECK(unit->frame.content != wire::codec::Content::config || !unit->frame.data.empty());
    CHECK(reader.held_bytes() <= TsReader::kHeldBytesMax + PesAssembler::kUnitBytesMax);
}

std::vector<BuiltStream> every_format() {
    return {{0x1B, 0x100, {}},
            {0x24, 0x101, {}},
            {0x06, 0x102, hex("05 04 41563031")},
            {0x0F, 0x103, {}},
            {0x11, 0x104, {}},
            {0x03, 0x105, {}},
            {0x81, 0x106, {}},
            {0x87, 0x107, {}},
            {0x06, 0x108, hex("05 04 4f707573 7f 02 80 02")},
            {0x86, 0x109, {}},
            {0x15, 0x10A, hex("26 0d ffff 49443320 ff 49443320 000f")}};
}

// The first byte of each piece chooses the stream and whether a unit begins, the second its size.
void feed_pieces(TsReader& reader, Bytes input) {
    TsBuilder ts;
    ts.tables(every_format());
    while (input.size() > 2) {
        const unsigned what = input[0];
        const auto pid = static_cast<std::uint16_t>(0x100 + what % kStreams);
        const std::size_t size = std::min<std::size_t>({input[1], std::size_t{184}, input.size() - 2});
        const Bytes payload = input.subspan(2, size);
        if ((what & 0x40) != 0)
            ts.unit(pid, built_pes(0xE0, {.pts = 90'000 * what}, payload, (what & 0x20) != 0));
        else
            ts.packet(pid, (what & 0x80) != 0, payload, size == 3);
        input = input.subspan(2 + size);
    }
    reader.feed(ts.bytes);
}

// The headers of audio that nothing else reads.
void read_headers(Bytes input) {
    namespace codec = live::wire::codec;
    if (const auto header = codec::parse_ac3_header(input); header.ok())
        CHECK(header->sample_rate > 0 && header->samples > 0 && header->frame_bytes <= codec::kAc3FrameBytesMax);
    codec::LatmReader latm;
    std::vector<Slice> frames;
    for (ByteReader in(input); !in.at_end();) {
        const std::size_t before = in.position();
        const auto read = latm.read(in, frames);
        if (in.position() == before) {
            CHECK(!read.ok());
            break;
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    TsReader reader;
    const Bytes input(data, size);
    read_headers(input);
    if (size > 0 && data[0] == 0)
        feed_pieces(reader, input.subspan(1));
    else
        reader.feed(input);
    drain(reader);
    reader.finish();
    drain(reader);
    return 0;
}
