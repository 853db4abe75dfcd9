// Arbitrary bytes as the body of a data message.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "media/ring/timed_event.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::media;
    Packet packet;
    packet.dts = 1s;
    packet.payload = Slice::copy_of({data, size});
    const auto event = read_timed_event(packet);
    if (!event)
        return 0;
    CHECK(event->at >= packet.dts && event->at <= packet.dts + TimedEvent::kDelayMax);
    if (event->kind == TimedEvent::Kind::splice)
        static_cast<void>(section_for(*event, 5));
    if (event->data.size() > TimedEvent::kBytesMax)
        return 0;
    packet.payload = write_timed_event(*event, packet.dts);
    const auto again = read_timed_event(packet);
    CHECK(again && again->kind == event->kind);
    return 0;
}
