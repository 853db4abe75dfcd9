// Writes program streams for tests, with the deviations of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/codec/audio/adts.hpp"
#include "wire/ps/program_map.hpp"
#include "wire/ts/crc32.hpp"
#include "wire/ts/read/ts_builder_fixture.hpp"

namespace live::wire::ps {

inline std::vector<std::uint8_t> built_map(const std::vector<ProgramMap::Stream>& streams, bool with_checksum = true) {
    ByteWriter out;
    const std::size_t list = streams.size() * 4;
    out.u32be(0x1BC).u16be(static_cast<std::uint16_t>(10 + list)).u8(0xE1).u8(0xFF).u16be(0);
    out.u16be(static_cast<std::uint16_t>(list));
    for (const ProgramMap::Stream& stream : streams)
        out.u8(stream.type).u8(stream.id).u16be(0);
    out.u32be(with_checksum ? ts::crc32_mpeg2(out.written()) : 0);
    return out.release();
}

inline std::vector<std::uint8_t> built_pack(std::uint64_t clock, std::uint8_t stuffing = 0) {
    ByteWriter out;
    out.u32be(0x1BA);
    out.u8(static_cast<std::uint8_t>(0x44 | (clock >> 30 & 7) << 3 | (clock >> 28 & 3)));
    out.u16be(static_cast<std::uint16_t>(clock >> 12 & 0xFFFF)).u8(0x04).u8(0x04).u8(0x01);
    out.u24be(0x0189C3).u8(static_cast<std::uint8_t>(0xF8 | stuffing));
    for (std::uint8_t i = 0; i < stuffing; ++i)
        out.u8(0xFF);
    return out.release();
}

inline std::vector<std::uint8_t> built_adts(std::size_t size, std::uint32_t rate = 48'000) {
    const auto header = codec::adts_header({.sample_rate = rate, .channels = 2}, size).value();
    std::vector<std::uint8_t> out(header.begin(), header.end());
    out.resize(out.size() + size, 0x21);
    return out;
}

class PsBuilder {
public:
    std::vector<std::uint8_t> bytes;

    PsBuilder& raw(Bytes input) {
        bytes.insert(bytes.end(), input.begin(), input.end());
        return *this;
    }
    PsBuilder& pack(std::uint64_t clock = 0, std::uint8_t stuffing = 0) { return raw(built_pack(clock, stuffing)); }
    PsBuilder& system_header() {
        ByteWriter out;
        out.u32be(0x1BB).u16be(12).u24be(0x80C4E1).u24be(0x04E17F).u8(0xE0).u16be(0xE0E8).u8(0xC0).u16be(0xC020);
        return raw(out.written());
    }
    PsBuilder& map(const std::vector<ProgramMap::Stream>& streams, bool with_checksum = true) {
        return raw(built_map(streams, with_checksum));
    }
    PsBuilder& pes(std::uint8_t id, std::optional<std::uint64_t> pts, Bytes payload, bool sized = true) {
        return raw(ts::built_pes(id, {.pts = pts}, payload, sized));
    }
    // In packets of at most `size` bytes, of which only the first has a time.
    PsBuilder& split_pes(std::uint8_t id, std::uint64_t pts, Bytes payload, std::size_t size) {
        for (std::optional<std::uint64_t> time = pts; !payload.empty(); time.reset()) {
            const std::size_t part = std::min(size, payload.size());
            pes(id, time, payload.first(part));
            payload = payload.subspan(part);
        }
        return *this;
    }
};

}  // namespace live::wire::ps
