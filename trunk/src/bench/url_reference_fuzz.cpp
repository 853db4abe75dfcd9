// Any bytes as a playlist, and every URI in it as a reference: no abort, and the bounds hold.
#include <cstdlib>

#include "base/bytes.hpp"
#include "bench/playlist.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::bench;
    const std::string_view text = live::as_text({data, size});
    static_cast<void>(resolve_reference("http://h:80/a/b?c", text));
    static_cast<void>(resolve_reference(text, "../x?y"));
    const auto playlist = parse_playlist(text);
    if (!playlist.ok())
        return 0;
    if (playlist->segments.size() > Playlist::kSegmentsMax || playlist->variants.size() > Playlist::kVariantsMax)
        std::abort();
    for (const Segment& segment : playlist->segments) {
        if (segment.uri.empty() || segment.duration.count() < 0)
            std::abort();
        static_cast<void>(resolve_reference("http://h/a/b", segment.uri));
    }
    return 0;
}
