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

// The credentials of http_api.auth itself permit everything. RFC 9110, 11.1 and 11.4: the scheme in any case, one or more spaces.
ApiRole own_role(const AuthOptions& auth, const Request& request) {
    const std::string_view given = request.message.headers.find("Authorization").value_or("");
    const std::size_t space = std::min(given.find(' '), given.size());
    const std::string_view scheme = given.substr(0, space);
    const std::string_view credentials = ascii::trimmed(given.substr(space), " ");
    bool is_right = false;
    if (ascii::are_same(scheme, "Bearer"))
        is_right = !auth.token.empty() && same_secret(credentials, auth.token);
    else
        is_right = ascii::are_same(scheme, "Basic") && takes_password(auth, request) &&
                   same_secret(credentials, base64(as_bytes(auth.username + ":" + auth.password)));
    return is_right ? ApiRole::admin : ApiRole::none;
}

// With a guard, identify_caller() has decided.
ApiRole role_of(const Context& context, const Request& request) {
    return context.guard != nullptr ? request.caller.role : own_role(context.auth, request);
}

// Offers first the scheme for which a browser shows its own form.
Reply unauthorised(const AuthOptions& auth, const Request& request) {
    Reply reply{Status::unauthorized, "text/plain", {}, {}};
    const bool is_for_users = auth.takes_users && !request.path().starts_with("/rtc/");
    if (takes_password(auth, request) || is_for_users)
        reply.headers.emplace_back("WWW-Authenticate", "Basic");
    if (!auth.token.empty() || is_for_users)
        reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
}

Reply too_many_attempts() {
    Reply reply = error_reply(Status::service_unavailable, "too many wrong passwords from this address: wait some seconds");
    reply.headers.emplace_back("Retry-After", "5");
    return reply;
}

// nullopt if the caller may send the request.
std::optional<Reply> refuse_caller(const Context& context, const Request& request, const Log& log) {
    if (!is_guarded(context.auth, request.path()))
        return std::nullopt;
    if (request.caller.must_wait)
        return too_many_attempts();
    const ApiRole role = role_of(context, request);
    const ApiRole needed = request.path().starts_with("/metrics")                          ? ApiRole::metrics
                           : request.path().starts_with("/rtc/") || changes_state(request) ? ApiRole::admin
                                                                                           : ApiRole::read;
    if (role >= needed)
        return std::nullopt;
    if (role != ApiRole::none)
        return error_reply(Status::forbidden, "these credentials do not permit this call");
    // No warning for a request without credentials: browsers send one first.
    if (request.message.headers.find("Authorization"))
        LOG_WARN(log, "HTTP: wrong password or token, ip={}, path={}", request.peer_ip, request.path());
    return unauthorised(context.auth, request);
}

}  // namespace

void identify_caller(const Context& context, Request& request, io::Deadline deadline) {
    const auto given = request.message.headers.find("Authorization");
    if (context.guard == nullptr || !given || !is_guarded(context.auth, request.path()))
        return;
    const ApiRole own = own_role(context.auth, request);
    const bool may_be_user = context.auth.takes_users && !request.path().starts_with("/rtc/");
    if (own != ApiRole::none || !may_be_user) {
        request.caller.must_wait = !context.guard->may_try(request.peer_ip, own != ApiRole::none);
        if (own != ApiRole::none && !request.caller.must_wait)
            request.caller = {own, "http_api.auth"};
        return;
    }
    if (const auto sent = parse_authorization(*given))
        request.caller = context.guard->identify(*sent, request.peer_ip, deadline);
}

void note_action(const Context& context, const Request& request, int status) {
    if (context.guard == nullptr || context.is_sibling || !is_control(request.path()) || !changes_state(request) ||
        request.message.method == "OPTIONS")
        return;
    context.guard->note({request.caller.name, request.peer_ip, request.message.method, request.message.target, status});
}

std::optional<Reply> own_answer(const Context& context, const Request& request, const Router::Match& match, const Log& log) {
    if (request.message.method == "OPTIONS")
        return context.allows_cross_origin ? Reply{Status::ok, "text/plain", {}, {}}
                                           : method_not_allowed("GET, HEAD", "OPTIONS is switched off");
    if (auto refusal = refuse_caller(context, request, log))
        return refusal;
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
