#include "service/admission/token_policy.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "wire/http/target.hpp"

namespace live::service::admission {

namespace {

using tokens::PathPattern;
using tokens::Permission;

// As in a pattern of paths.
std::string path_of(std::string_view vhost, const session::ClientRequest& request) {
    std::string path = stream_url(vhost, request.app, request.stream);
    return path.starts_with('/') ? path.substr(1) : path;
}

bool anybody_may(const tokens::TokenOptions& options, Permission permission, std::string_view path) {
    return std::ranges::any_of(options.anybody, [&](const std::vector<std::string>& right) {
        if (right.empty() || tokens::parse_permission(right[0]) != permission)
            return false;
        const auto paths = PathPattern::parse(right.size() > 1 ? right[1] : "");
        return paths.ok() && paths->matches(path);
    });
}

Result<std::string> token_of(const session::ClientRequest& request) {
    const std::string_view param = request.param;
    const auto query = wire::http::Query::parse(param.starts_with('?') ? param.substr(1) : param);
    if (!query.ok())
        return Error(Errc::denied, "the query is not valid");
    const std::string token(query->get("token", query->get("jwt")));
    return token.empty() ? Result<std::string>(Error(Errc::denied, "a token is required")) : token;
}

}  // namespace

Result<std::optional<tokens::UnixSeconds>> TokenPolicy::check(const session::ClientRequest& request, access::Role role,
                                                              tokens::UnixSeconds now) const {
    const VhostRules vhost = TRY(vhosts_.rules_of(request.vhost));
    const tokens::TokenOptions& options = vhost.access;
    const Permission permission = role == access::Role::publish ? Permission::publish : Permission::play;
    const std::string path = path_of(vhost.name, request);
    if (!options.enabled || anybody_may(options, permission, path))
        return std::optional<tokens::UnixSeconds>();
    const std::string token = TRY(token_of(request));
    std::vector<engine::crypto::SigningKey> keys;
    for (const std::string& file : options.key_files)
        if (const auto* key = keys_.find(file))
            keys.push_back(*key);
    const auto verified = TRY(tokens::verify_jwt(token, keys, {options.rights_claim, options.issuer, options.audience}, now));
    if (!tokens::permits(verified.rights, permission, path))
        return Error(Errc::denied, "the token does not permit to " + std::string(tokens::name_of(permission)) + " this stream");
    return verified.expires;
}

}  // namespace live::service::admission
