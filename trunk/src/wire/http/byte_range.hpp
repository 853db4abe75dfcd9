// Byte ranges of files (RFC 9110, 14): the Range header, and the same as a parameter of a query.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace live::wire::http {

struct ByteRange {
    enum class Answer : std::uint8_t {
        whole,          // no range, one in another unit, several, or one that cannot be read: all of it is a right answer
        part,           // `count` bytes from `first` on
        unsatisfiable,  // it begins behind the end
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
// "bytes 0-99/1000", or "bytes */1000" for one that is unsatisfiable.
std::string content_range(const ByteRange& range, std::uint64_t size);

}  // namespace live::wire::http
