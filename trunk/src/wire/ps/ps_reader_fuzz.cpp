// Arbitrary bytes as a program stream; after a zero, as payloads of packets that are written here, so that the parsers behind
// them are reached. The first byte of each piece selects the stream, its header and the event after it. Nothing aborts, and
// memory is bounded.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/ps/ps_builder_fixture.hpp"
#include "wire/ps/ps_reader.hpp"

namespace {

using namespace live;
using namespace live::wire::ps;

void drain(PsReader& reader) {
    while (const auto unit = reader.next())
        CHECK(unit->kind != MediaKind::data &&
              (unit->frame.content != wire::codec::Content::config || !unit->frame.data.empty()));
    CHECK(reader.held_bytes() <= PsReader::kHeldBytesMax + PsReader::kUnitBytesMax + (1U << 20));
    CHECK(reader.tracks().size() <= PsReader::kStreamsMax);
}

void feed_pieces(PsReader& reader, Bytes input) {
    constexpr std::array<std::uint8_t, 8> kIds = {0xE0, 0xE0, 0xC0, 0xE1, 0xC1, 0xBD, 0xC2, 0xBC};
    std::uint64_t time = 0;
    while (input.size() > 2) {
        const unsigned what = input[0];
        const std::uint8_t id = kIds[what % kIds.size()];
        const std::size_t size = std::min<std::size_t>(input[1], input.size() - 2);
        const Bytes payload = input.subspan(2, size);
        PsBuilder ps;
        if ((what & 0x08) != 0)
            ps.pack(time, static_cast<std::uint8_t>(what & 7));
        if (id == 0xBC)
            ps.map({{0xE0, input[1]}, {0xC0, input[0]}, {0xBD, 0x90}}, (what & 0x10) != 0);
        else
            ps.pes(id, (what & 0x20) != 0 ? std::optional(time += 3'600) : std::nullopt, payload, (what & 0x40) == 0);
        if ((what & 0x80) != 0 && size % 3 == 0)
            ps.bytes.resize(ps.bytes.size() - std::min<std::size_t>(size, ps.bytes.size()));
        reader.feed(ps.bytes);
        if ((what & 0x80) != 0 && size % 3 == 1)
            reader.mark();
        if ((what & 0x80) != 0 && size % 3 == 2)
            reader.lose();
        drain(reader);
        input = input.subspan(2 + size);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    PsReader reader;
    const Bytes input(data, size);
    if (size > 0 && data[0] == 0) {
        feed_pieces(reader, input.subspan(1));
    } else {
        const std::size_t half = size / 2;
        reader.feed(input.first(half));
        drain(reader);
        reader.feed(input.subspan(half));
        reader.mark();
    }
    drain(reader);
    reader.finish();
    drain(reader);
    return 0;
}
