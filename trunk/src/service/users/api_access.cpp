#include "service/users/api_access.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/log/log_format.hpp"
#include "base/text/json_text.hpp"
#include "base/text/secret.hpp"
#include "base/text/utc_text.hpp"

namespace live::service::users {

using session::http::ApiAction;
using session::http::ApiCaller;
using session::http::ApiRole;
using tokens::Permission;

ApiRole role_by(const std::vector<tokens::Right>& rights) {
    ApiRole role = ApiRole::none;
    for (const tokens::Right& right : rights)
        role = std::max(role, right.permission == Permission::api_admin  ? ApiRole::admin
                              : right.permission == Permission::api_read ? ApiRole::read
                              : right.permission == Permission::metrics  ? ApiRole::metrics
                                                                         : ApiRole::none);
    return role;
}

std::string audit_line(const ApiAction& action, std::chrono::system_clock::time_point now) {
    const nlohmann::json line = {{"time", utc_text(std::chrono::floor<std::chrono::milliseconds>(now))},
                                 {"caller", action.caller},
                                 {"ip", action.peer_ip},
                                 {"method", action.method},
                                 {"target", redacted(action.target)},
                                 {"status", action.status}};
    return text_of(line) + "\n";
}

ApiAccess::ApiAccess(UserService& users, tokens::TokenVerifier tokens, TokenRules token_rules, Audit audit, const Log& log)
    : users_(users), tokens_(tokens), token_rules_(std::move(token_rules)), audit_(std::move(audit)), log_(log) {}

void ApiAccess::open() {
    if (audit_.path == "off")
        return;
    if (writer_ != nullptr)
        return writer_->reopen();
    io::LineWriter::Options options;
    options.thread_name = "audit-writer";
    options.path = audit_.path;
    options.rotation = audit_.rotation;
    if (auto opened = io::LineWriter::create(std::move(options)); opened.ok())
        writer_ = *std::move(opened);
    else
        LOG_WARN(log_, "the audit log: {}; lines are lost until a SIGUSR1 reopens it", opened.error().sentence());
}

Result<void> ApiAccess::start(io::Scope&, io::Deadline) {
    open();
    return {};
}

void ApiAccess::on_tick() {
    if (writer_ == nullptr)
        return;
    for (const std::string& remark : writer_->take_remarks())
        LOG_WARN(log_, "the audit log {}: {}", audit_.path, remark);
}

void ApiAccess::note(const ApiAction& action) {
    if (writer_ != nullptr)
        writer_->add(audit_line(action, std::chrono::system_clock::now()));
}

ApiCaller ApiAccess::identify(const session::Credentials& credentials, const std::string& peer_ip, io::Deadline deadline) {
    if (!credentials.bearer.empty()) {
        const std::size_t colon = credentials.bearer.find(':');
        if (colon == std::string::npos)
            return by_token(credentials.bearer, deadline);
        return identify({credentials.bearer.substr(0, colon), credentials.bearer.substr(colon + 1), {}, {}, {}}, peer_ip,
                        deadline);
    }
    const auto user = users_.check(credentials.user, credentials.password, peer_ip, deadline);
    if (!user.ok() && user.code() == Errc::limit)
        return {.must_wait = true};
    return user.ok() ? ApiCaller{role_by((*user)->rights), "user " + (*user)->name} : ApiCaller();
}

bool ApiAccess::may_try(const std::string& peer_ip, bool is_right) { return users_.note_compared(peer_ip, is_right).ok(); }

ApiCaller ApiAccess::by_token(const std::string& token, io::Deadline deadline) {
    std::vector<std::string> missing;
    if (const auto* rules = token_rules_())
        missing = tokens_.missing_sets(*rules, token);
    tokens_.refresh(missing, deadline);
    const auto* rules = token_rules_();
    if (rules == nullptr)
        return {};
    const auto verified = tokens_.verify(*rules, token, tokens::unix_now());
    return verified.ok() ? ApiCaller{role_by(verified->rights), "token of " + verified->subject} : ApiCaller();
}

}  // namespace live::service::users
