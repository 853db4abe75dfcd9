// Arbitrary text as tcUrl and stream name, and as one URL. Admitted names must be harmless as relative paths.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace {

void check(const live::Result<live::wire::rtmp::StreamUrl>& url) {
    if (!url.ok())
        return;
    CHECK(!url->host.empty() && !url->vhost.empty() && !url->app.empty() && url->port != 0);
    CHECK(url->param.empty() || url->param.starts_with('?'));
    if (!live::wire::rtmp::admit(*url).ok())
        return;
    const std::string path = url->vhost + "/" + url->app + "/" + url->stream;
    CHECK(path.find("..") == std::string::npos && path.find("//") == std::string::npos && !path.starts_with('/'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = live::as_text(live::Bytes(data, size));
    check(live::wire::rtmp::parse_stream_url(text));
    const auto cut = text.find('\n');
    if (cut != std::string_view::npos)
        check(live::wire::rtmp::parse_stream_url(text.substr(0, cut), text.substr(cut + 1)));
    return 0;
}
