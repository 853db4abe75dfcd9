// Byte ranges of files (RFC 9110, 14): the Range header, and the same syntax in a query parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace live::wire::http {

struct ByteRange {
    enum class Answer : std::uint8_t {
        whole,          // no range, another unit, several ranges, or an invalid one: the complete file is a valid response
        part,           // `count` bytes starting at `first`
        unsatisfiable,  // starts after the end
    };

    Answer answer = Answer::whole;
    std::uint64_t first = 0;
    std::uint64_t count = 0;

    bool operator==(const ByteRange&) const = default;
};

// "bytes=0-99", "bytes=100-", "bytes=-50" of a file of `size` bytes.
ByteRange parse_range_header(std::string_view text, std::uint64_t size);
// The same without "bytes=".
ByteRange parse_range(std::string_view text, std::uint64_t size);
// "bytes 0-99/1000", or "bytes */1000" if unsatisfiable.
std::string content_range(const ByteRange& range, std::uint64_t size);

}  // namespace live::wire::http
