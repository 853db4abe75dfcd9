// Arbitrary bytes as an MP4 recording that was never closed.
#include <cstddef>
#include <cstdint>

#include "base/files/whole_part_fixture.hpp"
#include "wire/mp4/whole_part.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    live::check_whole_part(live::wire::mp4::whole_part, {data, data + size});
    return 0;
}
