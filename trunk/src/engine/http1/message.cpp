#include "engine/http1/message.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace live::engine::http1 {

bool same_name(std::string_view a, std::string_view b) { return ascii::are_same(a, b); }

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
            if (same_name(ascii::trimmed(rest.substr(0, comma), " \t"), token))
                return true;
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return false;
}

}  // namespace live::engine::http1
