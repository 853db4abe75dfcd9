#include "service/tokens/options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "service/tokens/rights.hpp"
#include "wire/http/url.hpp"

namespace live::service::tokens {

namespace {

bool is_for_streams(Permission permission) {
    return permission == Permission::publish || permission == Permission::play || permission == Permission::playback;
}

Result<void> validate(const std::vector<std::string>& right) {
    const auto permission = right.empty() || right.size() > 2 ? std::nullopt : parse_permission(right[0]);
    if (!permission || !is_for_streams(*permission))
        return Error(Errc::malformed, "expected publish, play or playback, and a pattern of paths if not for all");
    if (right.size() == 2)
        TRY(PathPattern::parse(right[1]));
    return {};
}

}  // namespace

bool guards_play(const TokenOptions& options) {
    const auto is_for_all_players = [](const std::vector<std::string>& right) {
        return !right.empty() && parse_permission(right[0]) == Permission::play && (right.size() == 1 || right[1].empty());
    };
    return options.enabled && std::ranges::none_of(options.anybody, is_for_all_players);
}

config::Findings check_token_options(const TokenOptions& options, const config::CheckContext& around) {
    for (const auto& right : options.anybody)
        if (const auto valid = validate(right); !valid.ok())
            return config::Findings::broken(fmt::format("vhost {}: access: found anybody \"{}\": {}", around.vhost,
                                                        fmt::join(right, " "), valid.error().sentence()));
    for (const std::string& right : options.policy_rights)
        if (const auto permission = parse_permission(right); !permission || !is_for_streams(*permission))
            return config::Findings::broken(
                fmt::format("vhost {}: access: found policy_rights {}, expected publish, play or playback", around.vhost, right));
    for (const std::string& url : options.jwks)
        if (const auto parsed = wire::http::parse_url(url); !parsed.ok())
            return config::Findings::broken(
                fmt::format("vhost {}: access: found jwks {}: {}", around.vhost, url, parsed.error().sentence()));
    if (options.enabled && options.key_files.empty() && options.jwks.empty())
        return config::Findings::broken(fmt::format("vhost {}: access: expected a key_file or jwks", around.vhost));
    return {};
}

}  // namespace live::service::tokens
