// Arbitrary bytes as a playlist. Parsed segments must write and read back the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/hls/playlist_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto any = wire::hls::parse_playlist(as_text(Bytes(data, size)));
    if (!any.ok())
        return 0;
    CHECK(any->variants.size() <= wire::hls::kPlaylistVariantsMax);
    CHECK(any->variants.empty() || any->media.segments.empty());
    const wire::hls::MediaPlaylist& read = any->media;
    // The writer repeats keys where needed, so the result may be longer.
    const std::string written = wire::hls::write_media_playlist(read);
    if (written.size() > wire::hls::kPlaylistBytesMax)
        return 0;
    const auto again = wire::hls::parse_media_playlist(written);
    CHECK(again.ok() && again->segments.size() == read.segments.size());
    for (std::size_t i = 0; i < read.segments.size(); ++i) {
        CHECK(again->segments[i].uri == read.segments[i].uri);
        CHECK(again->segments[i].key == read.segments[i].key);
    }
    return 0;
}
