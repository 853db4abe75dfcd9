#include "base/config/place.hpp"

#include <fmt/format.h>

namespace live::config {

std::string Place::text() const {
    if (line == 0)
        return file;
    return fmt::format("{}:{}:{}", file, line, column);
}

std::string Place::sentence(std::string_view what) const {
    if (line == 0)
        return fmt::format("{}: {}", file, what);
    return fmt::format("{}: {} (line {})", text(), what, line);
}

Error Place::error(std::string_view what, SourceLocation where) const { return {Errc::malformed, sentence(what), where}; }

}  // namespace live::config
