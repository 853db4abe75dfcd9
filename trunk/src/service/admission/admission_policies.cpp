#include "service/admission/admission_policies.hpp"

#include <utility>

#include "session/common/admitted_publish.hpp"

namespace live::service::admission {

namespace {

using hooks::Action;
using hooks::Subject;

}  // namespace

session::Answer AdmissionPolicies::publish(const session::ClientRequest& request, io::Deadline deadline) {
    if (memory_.is_tight())
        return memory_.refusal();
    session::StreamPlan plan = TRY(vhosts_.plan_for(request));
    const Subject subject{request, plan.vhost, plan.url};
    TRY(check_client(request, subject, plan, deadline));
    TRY(referrers_.check_publish(request));
    if (auto elsewhere = TRY(routing_.redirect_publisher(request)))
        return *std::move(elsewhere);
    TRY(end_gone_publisher(plan, deadline));
    TRY(callbacks_.ask_publish(subject, plan, deadline));
    TRY(routing_.claim(request, plan, deadline));
    return plan;
}

session::Answer AdmissionPolicies::play(const session::ClientRequest& request, io::Deadline deadline) {
    session::StreamPlan plan = TRY(vhosts_.plan_for(request));
    const Subject subject{request, plan.vhost, plan.url};
    TRY(check_client(request, subject, plan, deadline));
    if (request.kind.row().plays_files)
        return play_files(subject, std::move(plan), deadline);
    if (auto elsewhere = TRY(routing_.redirect_player(request, plan, deadline)))
        return *std::move(elsewhere);
    TRY(callbacks_.ask_play(subject, plan, deadline));
    // From here on, a player that is not served is reported with on_stop, because on_play has permitted it.
    const auto page = referrers_.check_play(request);
    const auto pulls = page.ok() ? routing_.needs_pull(request, plan, deadline) : Result<bool>(page.error());
    if (!pulls.ok()) {
        callbacks_.report_stream(Action::on_stop, request, plan);
        return pulls.error();
    }
    if (*pulls)
        return session::Answer::Pull{std::move(plan)};
    if (auto other = routing_.redirect_puller(request, plan)) {
        callbacks_.report_stream(Action::on_stop, request, plan);
        return *std::move(other);
    }
    return plan;
}

// The files are here, wherever the stream is published now.
session::Answer AdmissionPolicies::play_files(const Subject& subject, session::StreamPlan plan, io::Deadline deadline) {
    TRY(referrers_.check_play(subject.request));
    TRY(callbacks_.ask_play(subject, plan, deadline));
    return plan;
}

Result<void> AdmissionPolicies::check_client(const session::ClientRequest& request, const Subject& subject,
                                             session::StreamPlan& plan, io::Deadline deadline) {
    if (request.is_sibling && request.claims != nullptr && !request.claims->url.empty() && request.claims->url != plan.url)
        return Error(Errc::denied, "the other worker has admitted its client to another stream");
    // The other worker has applied the policies to its client.
    if (request.is_sibling || request.is_admitted) {
        plan.is_trusted_relay = true;
        return {};
    }
    TRY(referrers_.check_all(request));
    plan.is_trusted_relay = credentials_.is_trusted_relay(request);
    if (!plan.is_trusted_relay)
        TRY(callbacks_.ask_connect(subject, deadline));
    const auto role = is_publisher(request.kind) ? access::Role::publish : access::Role::play;
    TRY(addresses_.check(request, role));
    if (!plan.is_trusted_relay) {
        auto granted = TRY(access_.check(request, role, tokens::unix_now(), deadline));
        plan.ends_at = granted.ends_at;
        plan.user = std::move(granted.user);
        plan.has_access_rights = true;
    }
    return credentials_.check_token(request, plan, deadline);
}

// Before on_publish, so that callbacks receive the end first.
Result<void> AdmissionPolicies::end_gone_publisher(const session::StreamPlan& plan, io::Deadline deadline) {
    const auto source = streams_.find(plan.url);
    if (!source || source->publications().owner() == nullptr || plan.publish.takeover)
        return {};
    return session::end_gone_publisher(source, deadline);
}

Result<void> AdmissionPolicies::pull(const session::ClientRequest& request, const session::StreamPlan& plan,
                                     io::Deadline deadline) {
    auto pulled = routing_.pull(request, plan, deadline);
    if (!pulled.ok())
        callbacks_.report_stream(Action::on_stop, request, plan);  // on_play has permitted it
    return pulled;
}

Result<void> AdmissionPolicies::check_play(const session::ClientRequest& request) const {
    TRY(referrers_.check_all(request));
    TRY(addresses_.check(request, access::Role::play));
    TRY(access_.check_at_once(request, access::Role::play, tokens::unix_now()));
    return referrers_.check_play(request);
}

Result<void> AdmissionPolicies::fetch(const session::ClientRequest& request, io::Deadline deadline) {
    const session::StreamPlan plan = TRY(vhosts_.plan_for(request));
    return routing_.fetch(request, plan, deadline);
}

void AdmissionPolicies::report_closed(const session::ClientRequest& request, const session::Traffic& traffic) {
    if (!request.is_sibling && !credentials_.forget(request))
        callbacks_.report_closed(request, traffic);
}

}  // namespace live::service::admission
