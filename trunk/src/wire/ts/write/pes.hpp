// The header before one access unit (ISO/IEC 13818-1, 2.4.3.6): stream ID, length, and decoding and presentation times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"

namespace live::wire::ts {

enum class PesStream : std::uint8_t { private_1 = 0xBD, audio = 0xC0, video = 0xE0 };

struct PesHeader {
    static constexpr std::size_t kBytesMax = 19;

    std::array<std::uint8_t, kBytesMax> storage{};
    std::uint8_t size = 0;

    Bytes view() const { return Bytes(storage).first(size); }
};

struct PesTimes {
    MediaTime pts{};
    std::optional<MediaTime> dts;  // only if it differs from pts
};

// The largest payload whose length fits the header. Longer ones have no length, which is allowed only for video: the muxer aborts
// for audio.
inline constexpr std::size_t kPesPayloadBytesMax = 65'535 - (PesHeader::kBytesMax - 6);

PesHeader pes_header(PesStream stream, const PesTimes& times, std::size_t payload_bytes);

}  // namespace live::wire::ts
