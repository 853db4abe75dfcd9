#include "service/admission/access_policy.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "service/signed_urls/signed_url.hpp"
#include "wire/http/target.hpp"

namespace live::service::admission {

using tokens::PathPattern;
using tokens::Permission;
using wire::http::Query;
using Proof = session::Credentials::Proof;

namespace {

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

Permission permission_of(const session::ClientRequest& request, access::Role role) {
    if (role == access::Role::publish)
        return Permission::publish;
    return request.kind.row().plays_files ? Permission::playback : Permission::play;
}

// Clients that have one field for a password only send a token in it.
bool looks_like_a_token(std::string_view text) { return text.starts_with("eyJ") && std::ranges::count(text, '.') == 2; }

std::string first_of(const Query& query, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (const auto found = query.find(name); found && !found->empty())
            return std::string(*found);
    return {};
}

// Sets the URLs of a recording: as requested, and those whose answers hand their query on to this one.
void set_recording(const session::ClientRequest& request, const Query& query, signed_urls::Written& written) {
    const std::string stream = request.app + "/" + request.stream;
    const std::string& path = request.extension;
    written.uris = {"/" + stream, "/" + stream + ".m3u8"};
    if (!query.find("path")) {
        written.uris.push_back(path);
        return;
    }
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    written.query_uris = {path, folder + "list", folder + "get"};
    written.path_parameter = stream;
}

// Another server signs the URL as its client writes it: with the port or, if it is the usual one, without.
signed_urls::Written written_of(const session::ClientRequest& request, const Query& query) {
    const std::string path = "/" + request.app + "/" + request.stream;
    signed_urls::Written written;
    if (request.kind.row().plays_files)
        set_recording(request, query, written);
    else
        written.uris = {path + request.extension, path};
    std::vector<std::string>& places = written.places;
    if (request.credentials != nullptr && !request.credentials->authority.empty()) {
        const bool is_secure = request.is_secure;
        for (const std::string_view scheme : {is_secure ? "https" : "http", is_secure ? "wss" : "ws"})
            places.push_back(std::string(scheme) + "://" + request.credentials->authority);
    } else {
        const std::size_t scheme = request.tc_url.find("://");
        const std::size_t end = scheme == std::string::npos ? 0 : request.tc_url.find_first_of("/?", scheme + 3);
        places.push_back(request.tc_url.substr(0, end));
        places.push_back(places.front() + (request.is_secure ? ":443" : ":1935"));
    }
    written.raw_query = request.param;
    if (written.raw_query.starts_with('?'))
        written.raw_query.remove_prefix(1);
    return written;
}

}  // namespace

struct AccessPolicy::Asked {
    const tokens::TokenOptions& options;
    Permission permission;
    std::string path;
    bool is_open = false;  // nobody needs credentials

    Error refusal(std::string_view with) const {
        const std::string verb(permission == Permission::playback ? "play recordings of" : tokens::name_of(permission));
        return {Errc::denied, std::string(with) + " does not permit to " + verb + " this stream"};
    }
};

struct AccessPolicy::Given {
    Query query;
    std::string token;
    std::string user;
    std::string password;
    Proof proof = Proof::none;
};

Result<AccessPolicy::Asked> AccessPolicy::asked_of(const session::ClientRequest& request, access::Role role) const {
    const VhostRules vhost = TRY(vhosts_.rules_of(request.vhost));
    Asked asked{vhost.access, permission_of(request, role), path_of(vhost.name, request)};
    asked.is_open = !vhost.access.enabled || anybody_may(vhost.access, asked.permission, asked.path);
    return asked;
}

Result<AccessPolicy::Given> AccessPolicy::given_by(const session::ClientRequest& request) const {
    const std::string_view param = request.param;
    auto query = Query::parse(param.starts_with('?') ? param.substr(1) : param);
    if (!query.ok())
        return Error(Errc::denied, "the query is not valid");
    Given given{*std::move(query), {}, {}, {}};
    // "u" and "s" are the names of SRT's access control.
    const bool is_srt = request.protocol == "srt";
    given.token = first_of(given.query, {"token", "jwt"});
    given.user = first_of(given.query, {"user", "username", is_srt ? "u" : "user"});
    given.password = first_of(given.query, {"pass", "password", is_srt ? "s" : "pass"});
    if (request.credentials != nullptr) {
        const session::Credentials& sent = *request.credentials;
        if (given.token.empty())
            given.token = sent.bearer;
        if (given.user.empty() && !sent.user.empty()) {
            given.user = sent.user;
            given.password = sent.password;
            given.proof = sent.proof;
        }
    }
    if (given.token.empty() && looks_like_a_token(given.password))
        given.token = given.password;
    // WHIP and WHEP clients have one field for both.
    if (const std::size_t colon = given.token.find(':'); given.user.empty() && colon != std::string::npos) {
        given.user = given.token.substr(0, colon);
        given.password = given.token.substr(colon + 1);
        given.token.clear();
    }
    return given;
}

Error AccessPolicy::no_credentials() const {
    if (!users_.has_users())
        return {Errc::denied, "a token is required"};
    return {Errc::unauthenticated, "a token, or a name and a password, is required"};
}

void AccessPolicy::refresh_key_sets(const session::ClientRequest& request, access::Role role, io::Deadline deadline) const {
    std::vector<std::string> missing;
    {
        const auto asked = asked_of(request, role);
        if (!asked.ok() || asked->is_open || asked->options.jwks.empty())
            return;
        const auto given = given_by(request);
        if (!given.ok() || given->token.empty())
            return;
        missing = tokens_.missing_sets(asked->options, given->token);
    }
    tokens_.refresh(missing, deadline);
}

Result<AccessGrant> AccessPolicy::check_token(const Asked& asked, const std::string& token, tokens::UnixSeconds now) const {
    const auto verified = TRY(tokens_.verify(asked.options, token, now));
    if (!tokens::permits(verified.rights, asked.permission, asked.path))
        return asked.refusal("the token");
    return AccessGrant{verified.expires, {}};
}

Result<AccessGrant> AccessPolicy::check_url(const Asked& asked, const Given& given, const session::ClientRequest& request,
                                            tokens::UnixSeconds now) const {
    const tokens::TokenOptions& options = asked.options;
    signed_urls::Secrets secrets{.keys = {}, .secure_link = options.secure_link, .policy = options.policy_key};
    for (const std::string& file : options.key_files)
        if (const auto* key = tokens_.keys().find(file); key != nullptr && !key->secret().empty())
            secrets.keys.push_back(key->secret());
    for (const std::string& right : options.policy_rights)
        if (const auto permission = tokens::parse_permission(right))
            secrets.policy_permissions.push_back(*permission);
    return AccessGrant{TRY(signed_urls::verify(given.query, written_of(request, given.query), secrets,
                                               {asked.path, asked.permission, request.peer_ip, request.ip, now})),
                       {}};
}

Result<std::optional<AccessGrant>> AccessPolicy::check_signed(const Asked& asked, const Given& given,
                                                              const session::ClientRequest& request,
                                                              tokens::UnixSeconds now) const {
    if (!given.token.empty())
        return std::optional(TRY(check_token(asked, given.token, now)));
    if (given.user.empty() && signed_urls::is_signed(given.query))
        return std::optional(TRY(check_url(asked, given, request, now)));
    return std::optional<AccessGrant>();
}

Result<AccessGrant> AccessPolicy::check_user(const Asked& asked, const users::UserRef& user) {
    if (!tokens::permits(user->rights, asked.permission, asked.path))
        return asked.refusal("the user");
    return AccessGrant{{}, user->name};
}

Result<AccessGrant> AccessPolicy::check(const session::ClientRequest& request, access::Role role, tokens::UnixSeconds now,
                                        io::Deadline deadline) const {
    refresh_key_sets(request, role, deadline);
    std::string user;
    std::string password;
    {
        const Asked asked = TRY(asked_of(request, role));
        if (asked.is_open)
            return AccessGrant();
        Given given = TRY(given_by(request));
        if (auto granted = TRY(check_signed(asked, given, request, now)))
            return *std::move(granted);
        if (given.proof != Proof::none || given.user.empty())
            return check_at_once(request, role, now);
        user = std::move(given.user);
        password = std::move(given.password);
    }
    const users::UserRef found = TRY(users_.check(user, password, request.peer_ip, deadline));
    // A reload may have happened.
    return check_user(TRY(asked_of(request, role)), found);
}

Result<AccessGrant> AccessPolicy::check_at_once(const session::ClientRequest& request, access::Role role,
                                                tokens::UnixSeconds now) const {
    const Asked asked = TRY(asked_of(request, role));
    if (asked.is_open)
        return AccessGrant();
    const Given given = TRY(given_by(request));
    if (auto granted = TRY(check_signed(asked, given, request, now)))
        return *std::move(granted);
    if (given.user.empty())
        return no_credentials();
    const users::UserRef user = given.proof == Proof::right  ? users_.find(given.user)
                                : given.proof == Proof::none ? users_.find_verified(given.user, given.password, request.peer_ip)
                                                             : nullptr;
    if (user == nullptr || !user->may_come_from(request.peer_ip))
        return Error(Errc::unauthenticated, "the name or the password is wrong");
    return check_user(asked, user);
}

Result<void> AccessPolicy::check_again(const session::ClientRequest& request, access::Role role, const std::string& user,
                                       tokens::UnixSeconds now) const {
    const Asked asked = TRY(asked_of(request, role));
    if (asked.is_open)
        return {};
    if (user.empty()) {
        const Given given = TRY(given_by(request));
        return TRY(check_signed(asked, given, request, now)) ? Result<void>() : no_credentials();
    }
    const users::UserRef found = users_.find(user);
    if (found == nullptr || users_.has_new_password(user) || !found->may_come_from(request.peer_ip))
        return Error(Errc::denied, "its user has been removed or changed");
    TRY(check_user(asked, found));
    return {};
}

}  // namespace live::service::admission
