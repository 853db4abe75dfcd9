// Arbitrary bytes, searched for start codes: the first byte is where the search begins. The quick search and the plain one agree.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/video/start_code_fixture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    if (size == 0)
        return 0;
    const Bytes stream = Bytes(data, size).subspan(1);
    for (std::size_t at = data[0]; at < stream.size(); ++at) {
        const std::size_t found = wire::codec::find_start_code(stream, at);
        CHECK(found == wire::codec::find_start_code_plainly(stream, at));
        at = found;
    }
    return 0;
}
