// Any answer of an origin to an HTTP-FLV request, in two portions: media, an end, or an error, and at most one final event. With
// sync messages, the end of a stream is not final.
#include "base/bytes/bytes.hpp"
#include "service/relay/upstream/flv_upstream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::service::relay;
    if (size == 0)
        return 0;
    FlvUpstream upstream("GET / HTTP/1.1\r\n\r\n");
    const Bytes input(data + 1, size - 1);
    const std::size_t cut = std::min<std::size_t>(data[0], input.size());
    int finals = 0;
    const auto drain = [&] {
        while (auto event = upstream.poll_event()) {
            if (const auto* media = std::get_if<engine::rtmp::GotMedia>(&*event))
                CHECK(finals == 0 && !media->payload.bytes().empty());
            else if (const auto* ended = std::get_if<Ended>(&*event); ended == nullptr || ended->is_final)
                ++finals;
            else
                CHECK(upstream.keeps_timeline());
        }
    };
    bool is_whole = true;
    for (const Bytes part : {input.first(cut), input.subspan(cut)}) {
        is_whole = is_whole && upstream.handle_bytes({}, part).ok();
        drain();
        if (!is_whole)
            break;
    }
    if (is_whole)
        static_cast<void>(upstream.handle_end());
    drain();
    CHECK(finals <= 1);
    return 0;
}
