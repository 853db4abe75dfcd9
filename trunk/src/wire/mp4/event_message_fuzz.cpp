// Arbitrary bytes as an event message box.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/mp4/event_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::wire::mp4;
    const auto message = parse_event_message({data, size});
    if (!message.ok() || message->is_relative)
        return 0;
    live::ByteWriter out;
    write_event_message(out, *message);
    CHECK(parse_event_message(out.written()).value() == *message);
    return 0;
}
