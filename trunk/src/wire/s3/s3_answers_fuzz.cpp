// Arbitrary text as an answer of S3.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/s3/answers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::wire::s3;
    const auto xml = live::as_text({data, size});
    if (const auto elements = read_elements(xml); elements.ok())
        CHECK(!elements->empty() && elements->size() <= kElementsMax && elements->front().depth == 0);
    if (const auto page = read_part_page(xml); page.ok())
        for (const ListedPart& part : page->parts)
            CHECK(part.number > 0 && !part.etag.empty());
    static_cast<void>(read_refusal(xml));
    static_cast<void>(read_upload_id(xml));
    static_cast<void>(read_completed(xml));
    return 0;
}
