// Any bytes as a media playlist. What is read can be written, and is then read the same.
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "wire/hls/playlist_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto read = wire::hls::parse_media_playlist(as_text(Bytes(data, size)));
    if (!read.ok())
        return 0;
    const auto again = wire::hls::parse_media_playlist(wire::hls::write_media_playlist(*read));
    CHECK(again.ok() && again->segments.size() == read->segments.size());
    for (std::size_t i = 0; i < read->segments.size(); ++i) {
        CHECK(again->segments[i].uri == read->segments[i].uri);
        CHECK(again->segments[i].key == read->segments[i].key);
    }
    return 0;
}
