#include "wire/http/byte_range.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace live::wire::http {

namespace {

// Digits only. A number that is too large is the largest.
std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() ? number : UINT64_MAX;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t'))
        text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t'))
        text.remove_suffix(1);
    return text;
}

}  // namespace

ByteRange parse_range(std::string_view text, std::uint64_t size) {
    using Answer = ByteRange::Answer;
    text = trimmed(text);
    const auto dash = text.find('-');
    if (dash == std::string_view::npos)
        return {};
    const auto first = number_of(text.substr(0, dash));
    const auto last = number_of(text.substr(dash + 1));
    if (dash == 0) {  // the last so many bytes
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
    text = trimmed(text);
    const bool has_unit = text.size() > kUnit.size() &&
                          std::ranges::equal(text.substr(0, kUnit.size()), kUnit,
                                             [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
    return has_unit ? parse_range(text.substr(kUnit.size()), size) : ByteRange();
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
    if (range.answer != ByteRange::Answer::part)
        return "bytes */" + std::to_string(size);
    return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.first + range.count - 1) + "/" +
           std::to_string(size);
}

}  // namespace live::wire::http
