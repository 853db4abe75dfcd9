// Any text as a sync message of another node: it is refused, or it survives a round trip. The follower accepts its content in the
// middle of a stream and at the start of another publisher.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/segments/origin_follower.hpp"
#include "service/segments/segment_sync.hpp"
#include "service/segments/ts_muxer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::service::segments;
    const auto sync = read_segment_sync(as_text({data, size}));
    if (!sync.ok())
        return 0;
    CHECK(read_segment_sync(write_segment_sync(*sync)).ok());
    Segmenter segmenter({}, Segmenter::Layout::together, [] { return std::make_unique<TsMuxer>(); });
    OriginFollower follower(segmenter);
    const auto* state = std::get_if<SegmentState>(&sync->event);
    media::Packet packet;
    packet.content = media::Content::frame;
    packet.codec = media::Codec::mp3;
    packet.key = true;
    if (state != nullptr) {
        packet.kind = state->kind;
        packet.track = state->track;
        packet.dts = state->at;
    }
    packet.payload = Slice::copy_of(Bytes(data, size));
    for (int i = 0; i < 6; ++i) {
        follower.push(packet);
        if (i >= 3)
            follower.begin_next();
        follower.push(*sync);
        packet.dts += 11s;
        static_cast<void>(follower.take());
    }
    return 0;
}
