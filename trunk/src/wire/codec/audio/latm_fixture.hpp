// LATM in LOAS elements as an encoder sends it, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "wire/codec/bit_writer.hpp"

namespace live::wire::codec::latm_test {

// A value and its length in bits.
using Bits = std::vector<std::pair<std::uint32_t, unsigned>>;

// StreamMuxConfig; ISO/IEC 14496-3, 1.7.3.
struct Mux {
    unsigned version = 0;
    bool version_a = false;
    bool same_time = true;
    unsigned more_subframes = 0;
    unsigned more_programs = 0;
    unsigned more_layers = 0;
    Bits audio{{0x1210, 16}};  // AudioSpecificConfig: AAC-LC, 44,100 Hz, stereo
    unsigned frame_length_type = 0;
    Bits other{{0, 1}};  // otherDataPresent, and its length
    Bits checksum{{0, 1}};
};

inline void write(BitWriter& out, const Bits& bits) {
    for (const auto& [value, count] : bits)
        out.bits(value, count);
}

inline void write(BitWriter& out, const Mux& mux) {
    out.bits(mux.version, 1);
    if (mux.version == 1)
        out.flag(mux.version_a).bits(0, 2).bits(0xFF, 8);  // taraBufferFullness
    out.flag(mux.same_time).bits(mux.more_subframes, 6).bits(mux.more_programs, 4).bits(mux.more_layers, 3);
    if (mux.version == 1) {
        unsigned size = 0;
        for (const auto& [value, count] : mux.audio)
            size += count;
        out.bits(0, 2).bits(size, 8);
    }
    write(out, mux.audio);
    out.bits(mux.frame_length_type, 3).bits(0xFF, 8);
    write(out, mux.other);
    write(out, mux.checksum);
}

// AudioMuxElement of one frame, or as many copies of it as the configuration has subframes; without one, that of the element
// before.
inline std::vector<std::uint8_t> element(const std::vector<std::uint8_t>& frame, const std::optional<Mux>& mux) {
    BitWriter bits;
    bits.flag(!mux);
    if (mux)
        write(bits, *mux);
    for (unsigned i = 0; i <= (mux ? mux->more_subframes : 0); ++i) {
        for (std::size_t left = frame.size();; left -= 255) {
            bits.bits(static_cast<std::uint32_t>(std::min<std::size_t>(left, 255)), 8);
            if (left < 255)
                break;
        }
        for (const std::uint8_t byte : frame)
            bits.bits(byte, 8);
    }
    BitWriter out;
    const auto size = static_cast<std::uint32_t>(bits.written().size());
    out.bits(0x2B7, 11).bits(size, 13);
    std::vector<std::uint8_t> whole(out.written().begin(), out.written().end());
    whole.insert(whole.end(), bits.written().begin(), bits.written().end());
    return whole;
}

}  // namespace live::wire::codec::latm_test
