// Arbitrary bytes as two frames of a publisher: the first byte chooses the codec and the size of the lengths.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/video/captions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::codec;
    if (size == 0)
        return 0;
    const Codec codec = (data[0] & 1U) != 0 ? Codec::avc : Codec::hevc;
    const auto length_size = static_cast<std::uint8_t>(1 + (data[0] >> 6U));
    const Bytes frame = Bytes(data, size).subspan(1);
    const Bytes second = frame.subspan(frame.size() / 2);
    CaptionFinder finder;
    finder.read(codec, length_size, frame);
    CHECK(has_front_sei(codec, length_size, frame) || !finder.found().any());
    const std::size_t found = finder.found().names().size();
    finder.read(codec, length_size, second);
    CHECK(finder.found().names().size() >= found);
    return 0;
}
