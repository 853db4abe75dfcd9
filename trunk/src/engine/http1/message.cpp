#include "engine/http1/message.hpp"

#include <algorithm>

namespace live::engine::http1 {

namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter; }

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t'))
        text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t'))
        text.remove_suffix(1);
    return text;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char left, char right) { return lower(left) == lower(right); });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
    for (const Field& field : fields_)
        if (same_name(field.name, name))
            return field.value;
    return std::nullopt;
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
    for (const Field& field : fields_) {
        if (!same_name(field.name, name))
            continue;
        for (std::string_view rest = field.value; !rest.empty();) {
            const auto comma = std::min(rest.find(','), rest.size());
            if (same_name(trimmed(rest.substr(0, comma)), token))
                return true;
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return false;
}

}  // namespace live::engine::http1
