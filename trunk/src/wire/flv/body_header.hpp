// The header of an audio or video tag's body, in a buffer of fixed size: players' logs get one per frame, without an
// allocation.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"

namespace live::wire::flv {

class BodyHeader {
public:
    // The longest: type, track type, FourCC, track id and composition time of a OneTrack message.
    static constexpr std::size_t kBytesMax = 10;

    BodyHeader& u8(std::uint8_t value) { return big_endian<1>(value); }
    BodyHeader& u24be(std::uint32_t value) { return big_endian<3>(value); }
    BodyHeader& u32be(std::uint32_t value) { return big_endian<4>(value); }

    std::size_t size() const { return size_; }
    // Borrowed from this object.
    Bytes view() const { return Bytes(bytes_).first(size_); }

private:
    template <std::size_t Count>
    BodyHeader& big_endian(std::uint32_t value) {
        CHECK(size_ + Count <= kBytesMax);
        for (std::size_t i = Count; i-- > 0;)
            bytes_[size_++] = static_cast<std::uint8_t>(value >> (8 * i));
        return *this;
    }

    std::array<std::uint8_t, kBytesMax> bytes_{};
    std::uint8_t size_ = 0;
};

}  // namespace live::wire::flv
