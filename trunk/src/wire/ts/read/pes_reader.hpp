// Reads PES packets, which pes.hpp writes: PesAssembler reassembles the units of one PID, parse_pes reads the header at the
// start of each unit (ISO/IEC 13818-1, 2.4.3.6).
#pragma once

#include <algorithm>
#include <cstddef>
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

    // Call this before the first payload of a unit. Returns the previous unit if its length was unknown, and drops it if it is
    // shorter than its declared length.
    std::optional<Slice> begin();
    // Returns the unit if this payload completes it. The caller is its only owner.
    std::optional<Slice> push(Bytes payload);
    // The same for most payloads: one in the middle of a unit that has room for it. False: nothing has happened, call push().
    bool push_inside(Bytes payload) {
        const std::size_t end = size_ + payload.size();
        if (!open_ || size_ == 0 || end > memory_.size() || (whole_ != 0 && end >= whole_))
            return false;
        copy_bytes(payload, memory_.mutable_bytes().subspan(size_));
        size_ = end;
        return true;
    }
    // Like begin(), at the end of the stream.
    std::optional<Slice> finish();
    // Call this when bytes are missing. Drops the current unit, including its remaining payloads.
    void drop();

    // Number of units that began and were dropped.
    std::uint64_t dropped() const { return dropped_; }
    std::size_t held_bytes() const { return memory_.size(); }

private:
    void reserve(std::size_t size);
    Slice take(std::size_t size);

    Slice memory_;           // larger than the unit
    std::size_t size_ = 0;   // of the unit so far
    std::size_t whole_ = 0;  // as declared; 0: unknown
    std::size_t usual_ = 0;  // about the size of the latest units
    std::uint64_t dropped_ = 0;
    bool open_ = false;
};

}  // namespace live::wire::ts
