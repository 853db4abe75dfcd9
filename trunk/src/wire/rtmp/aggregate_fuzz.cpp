// Arbitrary payloads as an aggregate: parts stay inside it, and their number is bounded by its size.
#include <cstdlib>

#include "wire/rtmp/aggregate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::wire::rtmp;
    AggregateReader reader({MessageType::aggregate, 0xFFFFFF00, 1, 6, live::Slice::copy_of(live::Bytes(data, size))});
    std::size_t parts = 0;
    std::uint32_t sum = 0;
    for (auto part = reader.next(); part.ok() && part->has_value(); part = reader.next()) {
        for (const std::uint8_t byte : (*part)->payload.bytes())
            sum += byte;
        if (++parts > size / 15)
            std::abort();
    }
    return sum == 0xFFFFFFFF ? -1 : 0;
}
