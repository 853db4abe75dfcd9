// Arbitrary text as a credentials file and as an answer of the metadata service.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/upload/credentials_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::service::upload;
    const auto text = live::as_text({data, size});
    if (const auto read = parse_credentials_file(text, "default"); read.ok())
        CHECK(!read->is_empty());
    if (const auto read = parse_instance_credentials(text); read.ok())
        CHECK(!read->credentials.is_empty());
    return 0;
}
