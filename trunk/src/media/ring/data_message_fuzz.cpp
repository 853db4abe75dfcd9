// Any body as a data message: it is refused, or the written message reads back as the same.
#include <algorithm>

#include "base/check.hpp"
#include "media/ring/data_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const Bytes body(data, size);
    const auto message = media::read_data_message(body);
    if (!message.ok())
        return 0;
    CHECK(media::is_data_message(body));
    media::Packet packet;
    packet.codec = message->frame.codec;
    packet.content = message->frame.content;
    packet.key = message->frame.key;
    packet.track = message->frame.track;
    packet.payload = message->frame.data;
    const auto again = media::read_data_message(media::write_data_message(packet, message->time_ms).bytes());
    CHECK(again.ok() && again->time_ms == message->time_ms && again->frame.content == message->frame.content &&
          again->frame.key == message->frame.key && again->frame.track == message->frame.track &&
          std::ranges::equal(again->frame.data.bytes(), message->frame.data.bytes()));
    return 0;
}
