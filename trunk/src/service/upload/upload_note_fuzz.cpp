// Arbitrary text as the note of an upload.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/upload/upload_note.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::service::upload;
    if (const auto note = parse_note(live::as_text({data, size})); note.ok()) {
        const auto again = parse_note(text_of(*note));
        CHECK(again.ok() && *again == *note);
    }
    return 0;
}
