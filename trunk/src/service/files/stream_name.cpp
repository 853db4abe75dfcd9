#include "service/files/stream_name.hpp"

#include <algorithm>
#include <array>

namespace live::service::files {

namespace {

bool is_ignored(std::string_view variable) {
    constexpr std::array<std::string_view, 10> kIgnored = {"seq", "duration", "timestamp", "2006", "01",
                                                           "02",  "15",       "04",        "05",   "999"};
    return std::ranges::find(kIgnored, variable) != kIgnored.end();
}

}  // namespace

// Matches from the end: the literal before a variable delimits it, so only the first variable can contain slashes.
std::optional<StreamName> match_name(std::string_view form, std::string_view name) {
    StreamName found;
    std::string ignored;
    for (;;) {
        const std::size_t bracket = form.rfind(']');
        const std::string_view literal = bracket == std::string_view::npos ? form : form.substr(bracket + 1);
        if (!name.ends_with(literal))
            return std::nullopt;
        name.remove_suffix(literal.size());
        form.remove_suffix(literal.size());
        if (form.empty())
            return name.empty() && !found.stream.empty() ? std::optional(found) : std::nullopt;
        const std::size_t open = form.rfind('[');
        if (open == std::string_view::npos)
            return std::nullopt;
        const std::string_view variable = form.substr(open + 1, bracket - open - 1);
        std::string* const into = variable == "vhost"    ? &found.vhost
                                  : variable == "app"    ? &found.app
                                  : variable == "stream" ? &found.stream
                                  : is_ignored(variable) ? &ignored
                                                         : nullptr;
        if (into == nullptr)
            return std::nullopt;
        form = form.substr(0, open);
        const std::size_t before = form.rfind(']');
        const std::string_view in_front = before == std::string_view::npos ? form : form.substr(before + 1);
        std::size_t begin = 0;
        if (before == std::string_view::npos)
            begin = name.starts_with(in_front) ? in_front.size() : std::string_view::npos;
        else if (const std::size_t at = in_front.empty() ? std::string_view::npos : name.rfind(in_front);
                 at != std::string_view::npos)
            begin = at + in_front.size();
        else
            return std::nullopt;
        if (begin >= name.size())
            return std::nullopt;
        into->assign(name.substr(begin));
        name = name.substr(0, begin);
    }
}

}  // namespace live::service::files
