#include "base/config/facts.hpp"

#include <algorithm>

namespace live::config {

std::string_view name_of(Reload reload) {
    switch (reload) {
        case Reload::live: return "live";
        case Reload::next_session: return "next session";
        case Reload::restart: return "restart";
    }
    return "";
}

std::string_view name_of(Support support) {
    switch (support) {
        case Support::works: return "works";
        case Support::pending: return "not yet";
        case Support::ignored: return "no effect";
    }
    return "";
}

std::string environment_name(std::string_view path) {
    std::string name = "SRS_";
    for (const char letter : path) {
        if (letter >= 'a' && letter <= 'z')
            name.push_back(static_cast<char>(letter - 'a' + 'A'));
        else
            name.push_back(letter == '.' ? '_' : letter);
    }
    return name;
}

std::string quoted(std::string_view text) {
    const bool plain = text.find_first_of(" \t\r\n;{}") == std::string_view::npos && !text.starts_with('#') &&
                       !text.starts_with('"') && !text.starts_with('\'');
    if (plain)
        return std::string(text);
    const char quote = text.find('"') == std::string_view::npos ? '"' : '\'';
    std::string out(1, quote);
    std::copy_if(text.begin(), text.end(), std::back_inserter(out), [quote](char c) { return c != quote && c != '\n'; });
    out.push_back(quote);
    return out;
}

}  // namespace live::config
