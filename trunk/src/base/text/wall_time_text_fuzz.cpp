// Arbitrary text as a time: what is read is read again from its own text.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "base/text/wall_time_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto time = live::parse_wall_time(live::as_text({data, size}));
    if (time.ok()) {
        const auto again = live::parse_wall_time(live::wall_time_text(*time));
        // An offset may lead out of the years that are read.
        CHECK(!again.ok() || *again == *time);
    }
    return 0;
}
