// Any bytes as a reference, and as its base URL: no abort, and an absolute URL's reference stays absolute.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "bench/http/url_reference.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using live::bench::resolve_reference;
    const std::string_view text = live::as_text({data, size});
    CHECK(resolve_reference("http://h:80/a/b?c", text).find(':') != std::string::npos);
    static_cast<void>(resolve_reference(text, "../x?y"));
    return 0;
}
