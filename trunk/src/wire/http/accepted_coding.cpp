#include "wire/http/accepted_coding.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace live::wire::http {

namespace {

constexpr std::string_view kCodingBlanks = " \t";

// ";q=0.5" after a coding (RFC 9110, 12.4.2); without it the weight is 1.
bool has_weight(std::string_view parameter) {
    parameter = ascii::trimmed(parameter, kCodingBlanks);
    if (parameter.empty())
        return true;
    if (parameter.size() < 3 || (parameter[0] != 'q' && parameter[0] != 'Q') || parameter[1] != '=')
        return false;
    parameter.remove_prefix(2);
    constexpr std::size_t kWeightBytesMax = std::string_view("0.000").size();
    const bool is_number = parameter.size() <= kWeightBytesMax && parameter.find_first_not_of("0123456789.") == parameter.npos;
    return is_number && parameter.find_first_of("123456789") != parameter.npos;
}

}  // namespace

bool accepts_coding(std::string_view text, std::string_view coding) {
    bool any = false;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view element = text.substr(0, comma);
        text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
        const std::size_t semicolon = std::min(element.find(';'), element.size());
        const std::string_view name = ascii::trimmed(element.substr(0, semicolon), kCodingBlanks);
        const bool accepted = has_weight(element.substr(std::min(semicolon + 1, element.size())));
        if (ascii::are_same(name, coding))
            return accepted;
        if (name == "*")
            any = accepted;
    }
    return any;
}

}  // namespace live::wire::http
