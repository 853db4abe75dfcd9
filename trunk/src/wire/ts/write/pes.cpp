#include "wire/ts/write/pes.hpp"

#include "base/check.hpp"
#include "wire/ts/clock.hpp"

namespace live::wire::ts {

namespace {

constexpr std::uint8_t kPtsOnly = 0x2;
constexpr std::uint8_t kPtsOfTwo = 0x3;
constexpr std::uint8_t kDtsOfTwo = 0x1;
constexpr std::uint8_t kAligned = 0x84;  // '10', data_alignment_indicator

class Filler {
public:
    explicit Filler(PesHeader& header) : header_(header) {}
    void u8(std::uint64_t value) { header_.storage[header_.size++] = static_cast<std::uint8_t>(value); }
    void u16be(std::uint64_t value) {
        u8(value >> 8);
        u8(value);
    }
    // 33 bits in three groups, each followed by a marker bit.
    void time(std::uint8_t mark, MediaTime time) {
        const std::uint64_t ticks = ticks_of(time);
        u8(std::uint64_t{mark} << 4 | (ticks >> 30 & 0x07) << 1 | 1);
        u16be((ticks >> 15 & 0x7FFF) << 1 | 1);
        u16be((ticks & 0x7FFF) << 1 | 1);
    }

private:
    PesHeader& header_;
};

}  // namespace

PesHeader pes_header(PesStream stream, const PesTimes& times, std::size_t payload_bytes) {
    constexpr std::size_t kTimeBytes = 5;
    const std::size_t time_bytes = times.dts ? 2 * kTimeBytes : kTimeBytes;
    const bool has_length = payload_bytes <= kPesPayloadBytesMax;
    CHECK(has_length || stream == PesStream::video);
    PesHeader header;
    Filler out(header);
    out.u16be(0x0000);
    out.u8(0x01);
    out.u8(static_cast<std::uint8_t>(stream));
    out.u16be(has_length ? 3 + time_bytes + payload_bytes : 0);
    out.u8(kAligned);
    out.u8(times.dts ? 0xC0 : 0x80);
    out.u8(time_bytes);
    out.time(times.dts ? kPtsOfTwo : kPtsOnly, times.pts);
    if (times.dts)
        out.time(kDtsOfTwo, *times.dts);
    return header;
}

}  // namespace live::wire::ts
