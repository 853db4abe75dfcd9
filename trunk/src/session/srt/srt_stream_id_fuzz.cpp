// A stream id of any contents: whatever is read from it is fit for a file name.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "session/srt/stream_id.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::session::srt;
    const auto id = parse_stream_id(as_text(Bytes(data, size)), {"live", Mode::publish});
    if (!id.ok())
        return 0;
    CHECK(wire::rtmp::admit(id->url).ok() && size <= kStreamIdBytesMax);
    static_cast<void>(loggable(id->url.param));
    // The canonical form of the names means the same.
    const auto again = parse_stream_id("#!::r=" + id->url.app + "/" + id->url.stream, {});
    // A comma separates parameters there.
    if (id->url.app.find(',') == std::string::npos && id->url.stream.find(',') == std::string::npos && again.ok())
        CHECK(again->url.stream == id->url.stream);
    return 0;
}
