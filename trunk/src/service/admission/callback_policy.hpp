// CallbackPolicy: an operator's services decide about clients, and are notified of their ends, by the settings in force.
#pragma once

#include <string>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/hooks/hook_service.hpp"

namespace live::service::admission {

class CallbackPolicy {
public:
    // All must outlive this.
    CallbackPolicy(const VhostPolicy& vhosts, const VhostRulesTable& table, hooks::HookService& hooks)
        : vhosts_(vhosts), table_(table), hooks_(hooks) {}

    // on_connect, for protocols in which clients connect first. All functions return the errors of HookService::ask() and
    // VhostPolicy::rules_of().
    Result<void> ask_connect(const hooks::Subject& subject, io::Deadline deadline);
    // on_publish, unless the client is a trusted relay; then forward.backend. The answers are written to `plan`.
    Result<void> ask_publish(const hooks::Subject& subject, session::StreamPlan& plan, io::Deadline deadline);
    // on_play, unless the client is a trusted relay. The answer is written to `plan`.
    Result<void> ask_play(const hooks::Subject& subject, session::StreamPlan& plan, io::Deadline deadline);

    // Notifications. They do not suspend, and a trusted relay causes no notification.
    void report_stream(hooks::Action action, const session::ClientRequest& request, const session::StreamPlan& plan);
    void report_recording(const session::ClientRequest& request, const session::StreamPlan& plan, const std::string& file,
                          const std::string& error);
    // `stream` names the stream by virtual host, app and stream.
    void report_upload(const session::ClientRequest& stream, const std::string& url, hooks::UploadedFile file);
    void report_closed(const session::ClientRequest& request, const session::Traffic& traffic);

private:
    Result<hooks::Granted> ask(hooks::Action action, const hooks::Subject& subject, io::Deadline deadline);

    const VhostPolicy& vhosts_;
    const VhostRulesTable& table_;
    hooks::HookService& hooks_;
};

}  // namespace live::service::admission
