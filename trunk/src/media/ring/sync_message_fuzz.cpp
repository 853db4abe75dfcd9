// Any body as a sync message: it is refused, or it is within the limits, and the written message reads back as the same.
#include "base/check.hpp"
#include "media/ring/sync_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const Bytes body(data, size);
    const auto message = media::read_sync_message(body);
    if (!message.ok())
        return 0;
    CHECK(media::is_sync_message(body));
    CHECK(message->series.size() <= media::SyncMessage::kSeriesMax && message->text.size() <= media::SyncMessage::kTextMax);
    const Slice written = media::write_sync_message(*message);
    const auto again = media::read_sync_message(written.bytes());
    CHECK(again.ok() && again->series == message->series && again->text == message->text &&
          again->to_origin == message->to_origin);
    return 0;
}
