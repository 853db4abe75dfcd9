// Reads single bits, most significant first, and the Exp-Golomb codes of H.264 and HEVC (H.264, 9.1). Every read is checked;
// running out is Errc::need_more. Also removes the emulation prevention bytes of a NAL unit, which must happen before its bits
// are read.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

class BitReader {
public:
    explicit BitReader(Bytes input) : input_(input) {}

    std::size_t remaining() const { return input_.size() * 8 - at_; }

    // `count` bits, at most 32.
    Result<std::uint32_t> bits(unsigned count);
    Result<bool> flag();
    Result<void> skip(std::size_t count);
    // Unsigned and signed Exp-Golomb; Errc::malformed for a code of more than 32 leading zeros.
    Result<std::uint32_t> ue();
    Result<std::int64_t> se();
    // An unsigned Exp-Golomb code of at most `max`; otherwise Errc::malformed, with `what` in the sentence.
    Result<std::uint32_t> ue_up_to(std::uint32_t max, const char* what);

private:
    Bytes input_;
    std::size_t at_ = 0;
};

// The NAL unit without its emulation prevention bytes: 00 00 03 becomes 00 00 (H.264, 7.3.1; HEVC, 7.3.1.1).
std::vector<std::uint8_t> without_emulation_prevention(Bytes nal);

}  // namespace live::wire::codec
