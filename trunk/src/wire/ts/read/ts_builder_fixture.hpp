// Writes transport streams for tests that our muxer never writes: any programs, streams, descriptors and headers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::ts {

struct BuiltStream {
    std::uint8_t type = 0;
    std::uint16_t pid = 0;
    std::vector<std::uint8_t> descriptors;
};

inline std::vector<std::uint8_t> built_section(std::uint8_t table, std::uint16_t number, unsigned version,
                                               const std::vector<std::uint8_t>& body) {
    ByteWriter out;
    out.u8(table).u16be(static_cast<std::uint16_t>(0xB000 | (body.size() + 9))).u16be(number);
    out.u8(static_cast<std::uint8_t>(0xC1 | version << 1)).u8(0).u8(0).bytes(body);
    out.u32be(crc32_mpeg2(out.written()));
    return out.release();
}

inline std::vector<std::uint8_t> built_association(const std::map<std::uint16_t, std::uint16_t>& programs, unsigned version = 0) {
    ByteWriter body;
    for (const auto& [number, pid] : programs)
        body.u16be(number).u16be(static_cast<std::uint16_t>(0xE000 | pid));
    return built_section(0, 1, version, body.release());
}

inline std::vector<std::uint8_t> built_map(std::uint16_t program, const std::vector<BuiltStream>& streams, unsigned version = 0) {
    ByteWriter body;
    body.u16be(0xE100).u16be(0xF000);
    for (const BuiltStream& stream : streams) {
        body.u8(stream.type).u16be(static_cast<std::uint16_t>(0xE000 | stream.pid));
        body.u16be(static_cast<std::uint16_t>(0xF000 | stream.descriptors.size())).bytes(stream.descriptors);
    }
    return built_section(2, program, version, body.release());
}

struct BuiltTimes {
    std::optional<std::uint64_t> pts{};
    std::optional<std::uint64_t> dts{};
};

// With its length, or without one if `sized` is false.
inline std::vector<std::uint8_t> built_pes(std::uint8_t id, const BuiltTimes& times, Bytes payload, bool sized = true) {
    const auto time = [](ByteWriter& out, unsigned mark, std::uint64_t ticks) {
        out.u8(static_cast<std::uint8_t>(mark << 4 | (ticks >> 30 & 7) << 1 | 1));
        out.u16be(static_cast<std::uint16_t>(ticks >> 15 << 1 | 1)).u16be(static_cast<std::uint16_t>(ticks << 1 | 1));
    };
    ByteWriter header;
    if (times.pts)
        time(header, times.dts ? 3 : 2, *times.pts);
    if (times.dts)
        time(header, 1, *times.dts);
    ByteWriter out;
    out.u24be(1).u8(id).u16be(static_cast<std::uint16_t>(sized ? 3 + header.size() + payload.size() : 0));
    out.u8(0x80).u8(times.dts ? 0xC0 : times.pts ? 0x80 : 0).u8(static_cast<std::uint8_t>(header.size()));
    out.bytes(header.written()).bytes(payload);
    return out.release();
}

class TsBuilder {
public:
    std::vector<std::uint8_t> bytes;

    void section(std::uint16_t pid, const std::vector<std::uint8_t>& section) {
        std::vector<std::uint8_t> payload = {0};
        payload.insert(payload.end(), section.begin(), section.end());
        payload.resize((payload.size() + 183) / 184 * 184, 0xFF);
        unit(pid, payload);
    }
    void tables(const std::vector<BuiltStream>& streams, unsigned version = 0) {
        section(0, built_association({{1, 0x1000}}));
        section(0x1000, built_map(1, streams, version));
    }
    void unit(std::uint16_t pid, Bytes payload) {
        for (bool begins = true; begins || !payload.empty(); begins = false) {
            const std::size_t size = std::min<std::size_t>(payload.size(), 184);
            packet(pid, begins, payload.first(size));
            payload = payload.subspan(size);
        }
    }
    // At most 184 bytes.
    void packet(std::uint16_t pid, bool begins, Bytes payload, bool discontinuity = false) {
        std::uint8_t& counter = counters[pid];
        ByteWriter out;
        const std::size_t stuffing = 184 - payload.size();
        const bool has_field = stuffing > 0 || discontinuity;
        out.u8(0x47).u16be(static_cast<std::uint16_t>((begins ? 0x4000 : 0) | pid));
        out.u8(static_cast<std::uint8_t>((has_field ? 0x30 : 0x10) | counter));
        counter = static_cast<std::uint8_t>((counter + 1) % 16);
        if (has_field)
            out.u8(static_cast<std::uint8_t>(stuffing - 1));
        if (stuffing > 1)
            out.u8(discontinuity ? 0x80 : 0);
        for (std::size_t i = 2; i < stuffing; ++i)
            out.u8(0xFF);
        out.bytes(payload);
        bytes.insert(bytes.end(), out.written().begin(), out.written().end());
    }

    std::map<std::uint16_t, std::uint8_t> counters;  // the next of each PID
};

}  // namespace live::wire::ts
