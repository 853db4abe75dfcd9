// Reads what pes.hpp writes: PesAssembler puts the units of one PID together, parse_pes reads the header in front of each
// (ISO/IEC 13818-1, 2.4.3.6).
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::ts {

struct PesStart {
    std::uint8_t stream_id = 0;
    std::size_t header_bytes = 0;
    std::optional<std::uint64_t> pts;  // 33 bits at 90 kHz
    std::optional<std::uint64_t> dts;
};

// Errc::need_more, Errc::malformed.
Result<PesStart> parse_pes(Bytes unit);

class PesAssembler {
public:
    static constexpr std::size_t kUnitBytesMax = 8U << 20;

    // A unit begins with the next payload. Returns the previous unit if its length was unknown, and drops it if it is shorter
    // than its declared length.
    std::optional<Slice> begin();
    // Returns the unit when this payload completes it. Not shared.
    std::optional<Slice> push(Bytes payload);
    // The end of the stream, like begin().
    std::optional<Slice> finish();
    // Bytes are missing: drops the unit and its rest.
    void drop();

    // Units that have begun and were dropped.
    std::uint64_t dropped() const { return dropped_; }
    std::size_t held_bytes() const { return memory_.size(); }

private:
    void reserve(std::size_t size);
    Slice take(std::size_t size);

    Slice memory_;           // larger than the unit
    std::size_t size_ = 0;   // of the unit so far
    std::size_t whole_ = 0;  // as declared; 0: unknown
    std::size_t usual_ = 0;  // size of the latest unit
    std::uint64_t dropped_ = 0;
    bool open_ = false;
};

}  // namespace live::wire::ts
