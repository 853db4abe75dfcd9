#include "session/http/context.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/bytes/base64.hpp"
#include "base/log/log_format.hpp"
#include "base/text/ascii.hpp"
#include "base/text/secret.hpp"
#include "session/http/page_guard.hpp"
#include "wire/http/status.hpp"

namespace live::session::http {

namespace {

using wire::http::Status;

Reply redirect_to(std::string location, const std::string& raw_query) {
    Reply reply;
    reply.status = Status::found;
    reply.content_type = "text/plain";
    if (!raw_query.empty())
        location += "?" + raw_query;
    reply.headers.emplace_back("Location", std::move(location));
    return reply;
}

bool is_guarded(const AuthOptions& auth, const std::string& path) {
    return auth.enabled && (is_control(path) || (auth.guards_rtc && path.starts_with("/rtc/")) ||
                            (auth.guards_metrics && path.starts_with("/metrics")));
}

bool takes_password(const AuthOptions& auth, const Request& request) {
    return !auth.username.empty() && !request.path().starts_with("/rtc/");
}

bool is_authorised(const AuthOptions& auth, const Request& request) {
    const std::string_view given = request.message.headers.find("Authorization").value_or("");
    const std::size_t space = std::min(given.find(' '), given.size());
    // RFC 9110, 11.1 and 11.4: the scheme in any case, one or more spaces.
    const std::string_view scheme = given.substr(0, space);
    const std::string_view credentials = ascii::trimmed(given.substr(space), " ");
    if (ascii::are_same(scheme, "Bearer"))
        return !auth.token.empty() && same_secret(credentials, auth.token);
    return ascii::are_same(scheme, "Basic") && takes_password(auth, request) &&
           same_secret(credentials, base64(as_bytes(auth.username + ":" + auth.password)));
}

}  // namespace

std::optional<Reply> own_answer(const Context& context, const Request& request, const Router::Match& match, const Log& log) {
    if (request.message.method == "OPTIONS")
        return context.allows_cross_origin ? Reply{Status::ok, "text/plain", {}, {}}
                                           : method_not_allowed("GET, HEAD", "OPTIONS is switched off");
    if (is_guarded(context.auth, request.path()) && !is_authorised(context.auth, request)) {
        // No warning for a request without credentials: browsers send one first.
        if (request.message.headers.find("Authorization"))
            LOG_WARN(log, "HTTP: wrong password or token, ip={}, path={}", request.peer_ip, request.path());
        Reply reply{Status::unauthorized, "text/plain", {}, {}};
        // First the scheme for which a browser shows its own form.
        if (takes_password(context.auth, request))
            reply.headers.emplace_back("WWW-Authenticate", "Basic");
        if (!context.auth.token.empty())
            reply.headers.emplace_back("WWW-Authenticate", "Bearer");
        return reply;
    }
    if (is_control(request.path()) && changes_state(request) && !may_control(request, {context.auth.enabled, context.page_ports}))
        return error_reply(
            Status::forbidden,
            "a page of another site or port may not control this server: use /console/ of the API's port; behind a "
            "name, set http_api.auth");
    if (!match.redirect.empty())
        return redirect_to(match.redirect, request.target.raw_query);
    if (match.handler == nullptr)
        return error_reply(Status::not_found, "there is nothing at this address");
    return std::nullopt;
}

}  // namespace live::session::http
