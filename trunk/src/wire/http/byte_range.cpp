#include "wire/http/byte_range.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text/ascii.hpp"

namespace live::wire::http {

namespace {

// Digits only. A number that is too large is clamped to the maximum.
std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() ? number : UINT64_MAX;
}

constexpr std::string_view kBlanks = " \t";

}  // namespace

ByteRange parse_range(std::string_view text, std::uint64_t size) {
    using Answer = ByteRange::Answer;
    text = ascii::trimmed(text, kBlanks);
    const auto dash = text.find('-');
    if (dash == std::string_view::npos)
        return {};
    const auto first = number_of(text.substr(0, dash));
    const auto last = number_of(text.substr(dash + 1));
    if (dash == 0) {  // suffix range: the last bytes of the file
        if (!last)
            return {};
        const std::uint64_t count = std::min(*last, size);
        return count == 0 ? ByteRange{Answer::unsatisfiable, 0, 0} : ByteRange{Answer::part, size - count, count};
    }
    const bool is_open = dash + 1 == text.size();
    if (!first || (!last && !is_open) || (last && *last < *first))
        return {};
    if (*first >= size)
        return {Answer::unsatisfiable, 0, 0};
    return {Answer::part, *first, std::min(last.value_or(UINT64_MAX), size - 1) - *first + 1};
}

ByteRange parse_range_header(std::string_view text, std::uint64_t size) {
    constexpr std::string_view kUnit = "bytes=";
    text = ascii::trimmed(text, kBlanks);
    return text.size() > kUnit.size() && ascii::are_same(text.substr(0, kUnit.size()), kUnit)
               ? parse_range(text.substr(kUnit.size()), size)
               : ByteRange();
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
    if (range.answer != ByteRange::Answer::part)
        return "bytes */" + std::to_string(size);
    return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.first + range.count - 1) + "/" +
           std::to_string(size);
}

}  // namespace live::wire::http
