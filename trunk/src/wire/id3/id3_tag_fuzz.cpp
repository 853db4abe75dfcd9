// Arbitrary bytes as an ID3 tag.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/id3/tag.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto frames = live::wire::id3::parse_tag({data, size});
    if (!frames.ok())
        return 0;
    for (const auto& frame : *frames)
        CHECK(frame.data.data() + frame.data.size() <= data + size && frame.id.size() == 4);
    return 0;
}
