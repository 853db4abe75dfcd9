// Any text as another node's mark: refused, or understood, and then written again as it was meant; and followed in the middle of
// a stream and at another publisher's beginning, whatever it says.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/segments/follower.hpp"
#include "service/segments/ts_muxer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::service::segments;
    const auto mark = read_mark(as_text({data, size}));
    if (!mark.ok())
        return 0;
    CHECK(read_mark(write_mark(*mark)).ok());
    Segmenter segmenter({}, Segmenter::Layout::together, [] { return std::make_unique<TsMuxer>(); });
    Follower follower(segmenter);
    const auto* state = std::get_if<SegmentState>(&mark->what);
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
        follower.push(*mark);
        packet.dts += 11s;
        static_cast<void>(follower.take());
    }
    return 0;
}
