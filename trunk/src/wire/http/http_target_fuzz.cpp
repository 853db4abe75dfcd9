// Arbitrary text as a request target. An accepted path must be safe to append to a folder.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/http/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text(Bytes(data, size));
    CHECK(wire::http::percent_decode(wire::http::percent_encode(text)).value() == text);
    const auto target = wire::http::parse_target(text);
    if (!target.ok())
        return 0;
    const std::string path = target->path + "/";
    CHECK(path.find("/../") == std::string::npos && path.find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos);
    CHECK(target->query.parameters().size() <= wire::http::Query::kParametersMax);
    return 0;
}
