#include "service/tokens/rights.hpp"

#include <regex.h>

#include <algorithm>
#include <array>
#include <utility>

namespace live::service::tokens {

namespace {

constexpr std::array<std::pair<std::string_view, Permission>, 8> kNames = {{
    {"publish", Permission::publish},
    {"play", Permission::play},
    {"playback", Permission::playback},
    {"api.read", Permission::api_read},
    {"api.admin", Permission::api_admin},
    {"metrics", Permission::metrics},
    {"read", Permission::play},
    {"api", Permission::api_admin},
}};
constexpr std::array<std::string_view, 3> kPlaceholders = {"[vhost]", "[app]", "[stream]"};

struct Expression {
    explicit Expression(const char* text) : is_valid(::regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB) == 0) {}
    ~Expression() {
        if (is_valid)
            ::regfree(&compiled);
    }
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;

    ::regex_t compiled{};
    const bool is_valid;
};

// A wildcard at the front of `pattern`.
struct Wildcard {
    std::size_t length = 0;  // of its text; 0: none
    bool crosses_slashes = false;
};

Wildcard wildcard_of(std::string_view pattern) {
    if (pattern.starts_with("**"))
        return {2, true};
    if (pattern.starts_with("*"))
        return {1, false};
    for (const std::string_view placeholder : kPlaceholders)
        if (pattern.starts_with(placeholder))
            return {placeholder.size(), false};
    return {};
}

// At a mismatch, the last wildcard of each kind takes one letter more. A later wildcard within slashes never needs to return to
// an earlier one of its kind, but may need to return to the last "**".
bool matches_wildcards(std::string_view pattern, std::string_view path) {
    struct Retry {
        std::size_t pattern = std::string_view::npos;
        std::size_t path = 0;
    };
    Retry within, across;
    std::size_t p = 0, t = 0;
    while (t < path.size() || p < pattern.size()) {
        if (const Wildcard wildcard = p < pattern.size() ? wildcard_of(pattern.substr(p)) : Wildcard(); wildcard.length > 0) {
            p += wildcard.length;
            (wildcard.crosses_slashes ? across : within) = {p, t};
            if (wildcard.crosses_slashes)
                within = {};
        } else if (p < pattern.size() && t < path.size() && pattern[p] == path[t]) {
            ++p;
            ++t;
        } else if (within.pattern != std::string_view::npos && within.path < path.size() && path[within.path] != '/') {
            t = ++within.path;
            p = within.pattern;
        } else if (across.pattern != std::string_view::npos && across.path < path.size()) {
            t = ++across.path;
            p = across.pattern;
            within = {};
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<Permission> parse_permission(std::string_view name) {
    const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, Permission>::first);
    return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::string_view name_of(Permission permission) {
    return std::ranges::find(kNames, permission, &std::pair<std::string_view, Permission>::second)->first;
}

Result<PathPattern> PathPattern::parse(std::string text) {
    if (text.size() > kBytesMax)
        return Error(Errc::limit, "a pattern of paths has at most 512 bytes");
    if (text.starts_with('~') && !Expression(text.c_str() + 1).is_valid)
        return Error(Errc::malformed, "\"" + text + "\" is no regular expression");
    return PathPattern(std::move(text));
}

bool PathPattern::matches(std::string_view path) const {
    if (text_.empty())
        return true;
    if (!text_.starts_with('~'))
        return matches_wildcards(text_, path);
    const Expression expression(text_.c_str() + 1);
    return expression.is_valid && ::regexec(&expression.compiled, std::string(path).c_str(), 0, nullptr, 0) == 0;
}

bool permits(const std::vector<Right>& rights, Permission permission, std::string_view path) {
    return std::ranges::any_of(rights,
                               [&](const Right& right) { return right.permission == permission && right.paths.matches(path); });
}

}  // namespace live::service::tokens
