#include "service/admission/callback_policy.hpp"

#include <filesystem>
#include <system_error>

namespace live::service::admission {

namespace {

using hooks::Action;
using hooks::Subject;

}  // namespace

// A reload may happen during a callback: options are looked up anew for each.
Result<hooks::Granted> CallbackPolicy::ask(Action action, const Subject& subject, io::Deadline deadline) {
    return hooks_.ask(action, TRY(vhosts_.rules_of(subject.request.vhost)).http_hooks, subject, deadline);
}

Result<void> CallbackPolicy::ask_connect(const Subject& subject, io::Deadline deadline) {
    if (subject.request.kind.row().connects_first)
        TRY(ask(Action::on_connect, subject, deadline));
    return {};
}

Result<void> CallbackPolicy::ask_publish(const Subject& subject, session::StreamPlan& plan, io::Deadline deadline) {
    if (!plan.is_trusted_relay)
        plan.srt_passphrase = TRY(ask(Action::on_publish, subject, deadline)).srt_passphrase;
    const VhostRules rules = TRY(vhosts_.rules_of(subject.request.vhost));
    const auto& forward = rules.forward;
    if (forward.enabled && !forward.backend.empty())
        plan.forward_urls = TRY(hooks_.ask_forward(forward.backend, rules.http_hooks, subject, deadline));
    return {};
}

Result<void> CallbackPolicy::ask_play(const Subject& subject, session::StreamPlan& plan, io::Deadline deadline) {
    if (!plan.is_trusted_relay)
        plan.srt_passphrase = TRY(ask(Action::on_play, subject, deadline)).srt_passphrase;
    return {};
}

void CallbackPolicy::report_stream(Action action, const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (plan.is_trusted_relay)
        return;
    const auto vhost = table_.find(plan.vhost);
    // Without URLs, the service still counts the stream's players.
    const bool is_same = vhost && vhost->name == plan.vhost;
    hooks_.tell(action, is_same ? vhost->http_hooks : hooks::HookOptions(), {request, plan.vhost, plan.url});
}

void CallbackPolicy::report_recording(const session::ClientRequest& request, const session::StreamPlan& plan,
                                      const std::string& file, const std::string& error) {
    const auto vhost = table_.find(plan.vhost);
    if (!vhost || vhost->name != plan.vhost)
        return;
    std::error_code ignored;
    const std::string folder = std::filesystem::current_path(ignored).string();
    hooks_.report_recording(vhost->http_hooks, {request, plan.vhost, plan.url}, {folder, file, error});
}

void CallbackPolicy::report_upload(const session::ClientRequest& stream, const std::string& url, hooks::UploadedFile file) {
    const auto vhost = table_.find(stream.vhost);
    if (!vhost || vhost->name != stream.vhost)
        return;
    std::error_code ignored;
    file.cwd = std::filesystem::current_path(ignored).string();
    hooks_.report_upload(vhost->http_hooks, {stream, vhost->name, url}, file);
}

void CallbackPolicy::report_closed(const session::ClientRequest& request, const session::Traffic& traffic) {
    if (const auto vhost = table_.find(request.vhost))
        hooks_.tell(Action::on_close, vhost->http_hooks, {request, vhost->name, {}}, traffic);
}

}  // namespace live::service::admission
