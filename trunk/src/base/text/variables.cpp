#include "base/text/variables.hpp"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace live {

std::string replace_variables(std::string_view text, const Variables& variables) {
    std::string replaced;
    while (!text.empty()) {
        const std::size_t open = text.find('[');
        const std::size_t close = open == std::string_view::npos ? open : text.find(']', open);
        if (close == std::string_view::npos)
            break;
        replaced += text.substr(0, open);
        const std::string_view name = text.substr(open + 1, close - open - 1);
        std::string_view value = text.substr(open, close - open + 1);
        for (const auto& [known, meaning] : variables)
            if (known == name)
                value = meaning;
        replaced += value;
        text.remove_prefix(close + 1);
    }
    replaced += text;
    return replaced;
}

Variables time_variables(std::chrono::system_clock::time_point now, Zone zone) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::tm parts{};
    if (zone == Zone::utc)
        ::gmtime_r(&seconds, &parts);
    else
        ::localtime_r(&seconds, &parts);
    return {{"2006", fmt::format("{:%Y}", parts)},    {"01", fmt::format("{:%m}", parts)}, {"02", fmt::format("{:%d}", parts)},
            {"15", fmt::format("{:%H}", parts)},      {"04", fmt::format("{:%M}", parts)}, {"05", fmt::format("{:%S}", parts)},
            {"999", fmt::format("{:03}", ms % 1000)}, {"timestamp", std::to_string(ms)}};
}

}  // namespace live
