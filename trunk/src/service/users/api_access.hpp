// ApiAccess: the callers of the HTTP API by user and by token, with their roles, and the audit log of their actions. A thread
// writes the lines (io/files/line_writer.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log/log.hpp"
#include "io/files/line_writer.hpp"
#include "service/service.hpp"
#include "service/tokens/token_verifier.hpp"
#include "service/users/user_service.hpp"
#include "session/http/context.hpp"

namespace live::service::users {

class ApiAccess final : public Service, public session::http::ApiGuard {
public:
    struct Audit {
        std::string path;  // "off" for none
        io::LineWriter::Rotation rotation{};
    };
    // The access block whose keys verify the tokens; nullptr without one. Must not suspend.
    using TokenRules = std::function<const tokens::TokenOptions*()>;

    // `users` must outlive this, and what `tokens` refers to.
    ApiAccess(UserService& users, tokens::TokenVerifier tokens, TokenRules token_rules, Audit audit, const Log& log);

    // Opens the audit log, or reopens it after it was moved away.
    void open();

    // session::http::ApiGuard
    session::http::ApiCaller identify(const session::Credentials& credentials, const std::string& peer_ip,
                                      io::Deadline deadline) override;
    bool may_try(const std::string& peer_ip, bool is_right) override;
    void note(const session::http::ApiAction& action) override;

    // Service
    std::string_view name() const override { return "the audit log"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void on_tick() override;

private:
    session::http::ApiCaller by_token(const std::string& token, io::Deadline deadline);

    UserService& users_;
    const tokens::TokenVerifier tokens_;
    const TokenRules token_rules_;
    const Audit audit_;
    const Log& log_;
    std::unique_ptr<io::LineWriter> writer_;
};

// The highest role of the rights. Pure.
session::http::ApiRole role_by(const std::vector<tokens::Right>& rights);
// A line of the audit log, with its newline, without secrets. Pure.
std::string audit_line(const session::http::ApiAction& action, std::chrono::system_clock::time_point now);

}  // namespace live::service::users
