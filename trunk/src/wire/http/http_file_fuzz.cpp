// Arbitrary text as a Range header and as an HTTP date: a range must lie inside the file, and a date must write back the same.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/http/byte_range.hpp"
#include "wire/http/date.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text(Bytes(data, size));
    for (const std::uint64_t file : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, UINT64_MAX}) {
        for (const auto& range : {wire::http::parse_range_header(text, file), wire::http::parse_range(text, file)}) {
            const bool is_part = range.answer == wire::http::ByteRange::Answer::part;
            CHECK(is_part == (range.count > 0));
            CHECK(range.count <= file && range.first <= file - range.count);
            static_cast<void>(wire::http::content_range(range, file));
        }
    }
    if (const auto time = wire::http::parse_date(text))
        CHECK(wire::http::parse_date(wire::http::format_date(*time)) == time);
    return 0;
}
