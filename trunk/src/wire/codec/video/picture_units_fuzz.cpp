// Arbitrary bytes as the units of a message: the first byte chooses the codec and the size of the lengths. A message that begins
// with the units of another one that could be read is part of a picture, too.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/video/picture_units.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::codec;
    if (size == 0)
        return 0;
    constexpr std::array kCodecs = {Codec::avc, Codec::hevc, Codec::av1, Codec::vp8, Codec::vp9, Codec::unknown};
    const Codec codec = kCodecs[data[0] % kCodecs.size()];
    const auto length_size = static_cast<std::uint8_t>(1 + (data[0] >> 6));
    const Bytes units = Bytes(data, size).subspan(1);
    const PicturePart part = picture_part_of(codec, length_size, units);
    const bool has_parts = codec == Codec::avc || codec == Codec::hevc || codec == Codec::av1;
    CHECK(has_parts || part == PicturePart::unknown);
    CHECK(!units.empty() || part == PicturePart::unknown);
    if (codec != Codec::av1 && is_random_access(codec, length_size, units) && has_parts)
        CHECK(part != PicturePart::back && part != PicturePart::front);
    return 0;
}
