// Right: a permission of a token for the streams whose path matches a pattern. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::service::tokens {

enum class Permission : std::uint8_t { publish, play, playback, api_read, api_admin, metrics };

// "publish", "play", "playback", "api.read", "api.admin", "metrics", and the names that MediaMTX uses: "read", "api". nullopt for
// another name.
std::optional<Permission> parse_permission(std::string_view name);
std::string_view name_of(Permission permission);

// A pattern of paths like "live/cam", or "VHOST/live/cam" for a virtual host other than the default one. An empty pattern matches
// every path. '*' matches any letters but '/', "**" any letters; "[vhost]", "[app]" and "[stream]" match as '*'. A pattern that
// begins with '~' is an extended regular expression (POSIX) that must match somewhere in the path, as in MediaMTX.
class PathPattern {
public:
    static constexpr std::size_t kBytesMax = 512;

    // Errc::malformed for an invalid expression, Errc::limit for a long pattern.
    static Result<PathPattern> parse(std::string text);

    bool matches(std::string_view path) const;
    const std::string& text() const { return text_; }

private:
    explicit PathPattern(std::string text) : text_(std::move(text)) {}

    std::string text_;
};

struct Right {
    Permission permission = Permission::play;
    PathPattern paths;
};

bool permits(const std::vector<Right>& rights, Permission permission, std::string_view path);

}  // namespace live::service::tokens
