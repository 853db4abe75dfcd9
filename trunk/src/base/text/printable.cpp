#include "base/text/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace live {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

// Decodes a well-formed sequence of two or three bytes.
std::uint32_t code_point(std::string_view sequence) {
    const std::uint32_t first = byte_at(sequence, 0);
    const std::uint32_t second = byte_at(sequence, 1) & 0x3FU;
    if (sequence.size() == 2)
        return (first & 0x1FU) << 6U | second;
    return (first & 0x0FU) << 12U | second << 6U | (byte_at(sequence, 2) & 0x3FU);
}

// U+2028 and U+2029 end a line in some readers; the others are the marks of Unicode's bidirectional algorithm (UAX #9, 2).
bool ends_or_turns_a_line(std::uint32_t code) {
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& out, std::uint32_t code) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U})
        out += kDigits[code >> shift & 0xFU];
}

// The first bytes of all sequences that escape_controls() replaces.
bool may_begin_control(char letter) { return letter == '\x7F' || letter == '\xC2' || letter == '\xD8' || letter == '\xE2'; }

}  // namespace

std::size_t utf8_length(std::string_view text) {
    const auto first = byte_at(text, 0);
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size() || (byte_at(text, i) & 0xC0U) != 0x80)
            return 1;
    }
    return length;
}

bool is_control(std::string_view sequence) {
    const auto first = byte_at(sequence, 0);
    switch (sequence.size()) {
        case 1: return first < 0x20 || (first >= 0x7F && first < 0xA0);
        case 2: return first < 0xC2 || code_point(sequence) < 0xA0 || ends_or_turns_a_line(code_point(sequence));
        case 3: return (first == 0xE0 && byte_at(sequence, 1) < 0xA0) || ends_or_turns_a_line(code_point(sequence));
        default: return first > 0xF4 || (first == 0xF0 && byte_at(sequence, 1) < 0x90);
    }
}

bool is_printable_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::string_view sequence = text.substr(0, utf8_length(text));
        const auto first = byte_at(sequence, 0);
        if (is_control(sequence) || (sequence.size() == 1 && first >= 0x80))
            return false;
        // Surrogates, and what is above U+10FFFF.
        if ((first == 0xED && byte_at(sequence, 1) >= 0xA0) || (first == 0xF4 && byte_at(sequence, 1) >= 0x90))
            return false;
        text.remove_prefix(sequence.size());
    }
    return true;
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::string_view sequence = text.substr(0, utf8_length(text));
        if (is_control(sequence))
            out.push_back('?');
        else
            out += sequence;
        text.remove_prefix(sequence.size());
    }
    return out;
}

std::string escape_controls(std::string json) {
    if (std::ranges::none_of(json, may_begin_control))
        return json;
    std::string out;
    out.reserve(json.size() + 16);
    for (std::string_view rest = json; !rest.empty();) {
        const std::string_view sequence = rest.substr(0, utf8_length(rest));
        if (!may_begin_control(sequence.front()) || !is_control(sequence))
            out += sequence;
        else
            append_escaped(out, sequence.size() == 1 ? byte_at(sequence, 0) : code_point(sequence));
        rest.remove_prefix(sequence.size());
    }
    return out;
}

}  // namespace live
