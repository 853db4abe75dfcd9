// An srt:// address of any contents: what is read from it keeps to its bounds.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "session/srt/call/call_url.hpp"
#include "session/srt/options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::session::srt;
    const auto url = parse_call_url(as_text(Bytes(data, size)));
    if (!url.ok())
        return 0;
    CHECK(!url->host.empty() && url->port != 0 && url->stream_id.size() <= kStreamIdBytesMax);
    CHECK(url->passphrase.empty() ||
          (url->passphrase.size() >= kPassphraseBytesMin && url->passphrase.size() <= kPassphraseBytesMax));
    CHECK(url->key_bytes == 16 || url->key_bytes == 24 || url->key_bytes == 32);
    // The label in the log is an address too.
    CHECK(parse_call_url(url->label()).ok());
    return 0;
}
