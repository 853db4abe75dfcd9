#include "settings/admission.hpp"

#include <filesystem>
#include <system_error>

#include "base/log/log_format.hpp"
#include "service/access/refer.hpp"
#include "service/access/security.hpp"
#include "service/cluster/hop_mark.hpp"
#include "service/relay/relay_clock.hpp"
#include "session/common/admitted_publish.hpp"

namespace live::settings {

using service::access::ReferOptions;
using service::hooks::Action;
using service::hooks::Subject;
using session::ClientKind;

namespace {

// How long a player waits for the first media of a stream that another worker publishes, before it is let in without.
constexpr std::chrono::milliseconds kFirstMediaLimit{500};

bool is_rtmp(ClientKind kind) {
    return kind == ClientKind::rtmp_play || kind == ClientKind::fmle_publish || kind == ClientKind::flash_publish ||
           kind == ClientKind::haivision_publish;
}

// A protocol that connects before it states its intent.
bool connects_first(ClientKind kind) { return is_rtmp(kind) || kind == ClientKind::srt_play || kind == ClientKind::srt_publish; }

}  // namespace

std::string stream_url(const Vhost& vhost, const std::string& app, const std::string& stream) {
    std::string url = vhost.name == kDefaultVhost ? std::string() : vhost.name;
    return url + "/" + app + "/" + stream;
}

Result<const Vhost*> Admission::serving_vhost(const std::string& name) const {
    const Vhost* vhost = settings_->find_vhost(name);
    if (vhost == nullptr)
        return Error(Errc::not_found, "no virtual host serves " + name);
    if (!vhost->enabled)
        return Error(Errc::denied, "virtual host " + vhost->name + " is switched off");
    return vhost;
}

std::string Admission::serving(const std::string& name) const {
    const Vhost* vhost = settings_->find_vhost(name);
    return vhost == nullptr ? name : vhost->name;
}

Result<session::rtmp::RtmpOptions> Admission::options_of(const std::string& vhost) const {
    return TRY(serving_vhost(vhost))->rtmp;
}

Result<session::StreamPlan> Admission::plan_for(const session::ClientRequest& request) const {
    const Vhost* vhost = TRY(serving_vhost(request.vhost));
    return session::StreamPlan{.url = stream_url(*vhost, request.app, request.stream),
                               .vhost = vhost->name,
                               .chunk_size = vhost->rtmp.chunk_size,
                               .play = vhost->play,
                               .publish = vhost->publish};
}

// Nothing looked up before a callback is valid after it: a reload may have happened meanwhile.
Result<service::hooks::Granted> Admission::ask(Action action, const Subject& subject, io::Deadline deadline) {
    const Vhost* vhost = TRY(serving_vhost(subject.request.vhost));
    if (hooks_ == nullptr)
        return service::hooks::Granted();
    return hooks_->ask(action, vhost->http_hooks, subject, deadline);
}

// Only RTMP clients report the page they come from.
Result<void> Admission::check_refer(const session::ClientRequest& request, std::vector<std::string> ReferOptions::*names) const {
    const ReferOptions& refer = TRY(serving_vhost(request.vhost))->refer;
    if (!refer.enabled || !is_rtmp(request.kind))
        return {};
    return service::access::check_refer(refer.*names, request.page_url);
}

// Checks that every client must pass before its request is examined.
Result<void> Admission::check_stranger(const session::ClientRequest& request, const Subject& subject, session::StreamPlan& plan,
                                       io::Deadline deadline) {
    if (request.is_sibling && request.claims != nullptr && !request.claims->url.empty() && request.claims->url != plan.url)
        return Error(Errc::denied, "the other worker has admitted its client to another stream");
    // Its own client has been asked there.
    if (request.is_sibling || request.is_admitted) {
        plan.is_trusted_relay = true;
        return {};
    }
    TRY(check_refer(request, &ReferOptions::all));
    plan.is_trusted_relay = is_trusted_relay(request);
    if (connects_first(request.kind) && !plan.is_trusted_relay)
        TRY(ask(Action::on_connect, subject, deadline));
    using service::access::Role;
    const Role role = is_publisher(request.kind) ? Role::publish : Role::play;
    TRY(service::access::check_security(TRY(serving_vhost(request.vhost))->security, role, request.peer_ip));
    return check_token(request, plan, deadline);
}

bool Admission::is_trusted_relay(const session::ClientRequest& request) {
    const auto vhost = serving_vhost(request.vhost);
    if (!vhost.ok() || !request.is_relay() || request.claims->proof.empty() || (*vhost)->cluster.secret.empty())
        return false;
    if (trusted_ids_.contains(request.id))
        return true;  // another session of the same connection
    using service::relay::RelayedRequest;
    const auto role = is_publisher(request.kind) ? RelayedRequest::Role::publish : RelayedRequest::Role::play;
    const auto good = proofs_.check(request.claims->proof, (*vhost)->cluster.secret,
                                    {role, request.vhost, request.app, request.stream, request.relay_path()},
                                    service::relay::unix_seconds_now());
    if (good.ok() && connects_first(request.kind))
        trusted_ids_.insert(request.id);
    return good.ok();
}

Result<void> Admission::check_token(const session::ClientRequest& request, const session::StreamPlan& plan,
                                    io::Deadline deadline) {
    const auto& cluster = TRY(serving_vhost(request.vhost))->cluster;
    if (tokens_ == nullptr || !cluster.token_traverse || cluster.mode != service::relay::ClusterMode::remote)
        return {};
    return tokens_->check(request, plan, cluster, deadline);
}

session::Answer Admission::publish(const session::ClientRequest& request, io::Deadline deadline) {
    if (memory_ != nullptr && memory_->is_tight())
        return memory_->refusal();
    session::StreamPlan plan = TRY(plan_for(request));
    const Subject subject{request, plan.vhost, plan.url};
    TRY(check_stranger(request, subject, plan, deadline));
    TRY(check_refer(request, &ReferOptions::publish));
    if (is_of_cluster(request.vhost) && !cluster_->takes_publishers()) {
        if (auto elsewhere = placer_ != nullptr ? placer_->other_for_publisher(request) : std::nullopt)
            return *std::move(elsewhere);
        return Error(Errc::limit,
                     cluster_->is_draining()
                         ? "this node of the cluster is about to stop and takes no publishers: try again, at another one"
                         : "this node of the cluster takes no publishers: publish at another one");
    }
    TRY(end_gone_publisher(plan, deadline));
    if (!plan.is_trusted_relay)
        plan.srt_passphrase = TRY(ask(Action::on_publish, subject, deadline)).srt_passphrase;
    const auto& forward = TRY(serving_vhost(request.vhost))->forward;
    if (hooks_ != nullptr && forward.enabled && !forward.backend.empty())
        plan.forward_urls = TRY(hooks_->ask_forward(forward.backend, subject, deadline));
    if (is_of_workers(request.vhost))
        TRY(workers_->claim(plan.url, plan.publish.takeover, deadline));
    // A pull of what another process has published until now, which may be gone since.
    if (workers_ != nullptr && relay_ != nullptr &&
        TRY(serving_vhost(request.vhost))->cluster.mode == service::relay::ClusterMode::local)
        relay_->give_way(plan.url);
    if (is_of_cluster(request.vhost)) {
        TRY(cluster_->claim(plan.url, plan.publish.takeover, deadline));
        // A pull of what another node has published until now.
        relay_->give_way(plan.url);
    }
    return plan;
}

// Before on_publish, so that callbacks learn of the end first.
Result<void> Admission::end_gone_publisher(const session::StreamPlan& plan, io::Deadline deadline) {
    const auto source = streams_ == nullptr ? Ref<media::Source>() : streams_->find(plan.url);
    if (!source || !source->is_published() || plan.publish.takeover)
        return {};
    return session::let_gone_publisher_end(source, deadline);
}

session::Answer Admission::play(const session::ClientRequest& request, io::Deadline deadline) {
    session::StreamPlan plan = TRY(plan_for(request));
    const Subject subject{request, plan.vhost, plan.url};
    TRY(check_stranger(request, subject, plan, deadline));
    // Before on_play: the other server asks its own.
    if (asks_coworkers(request) && !request.is_sibling &&
        !(is_of_workers(request.vhost) && TRY(is_on_other_worker(request, plan, deadline)))) {
        const auto& cluster = TRY(serving_vhost(request.vhost))->cluster;
        if (auto elsewhere = TRY(coworkers_->find(request, plan, cluster, deadline)))
            return *std::move(elsewhere);
    }
    if (placer_ != nullptr && is_of_cluster(request.vhost))
        if (auto elsewhere = TRY(placer_->find(request, plan.url, deadline)))
            return *std::move(elsewhere);
    if (!plan.is_trusted_relay)
        plan.srt_passphrase = TRY(ask(Action::on_play, subject, deadline)).srt_passphrase;
    if (const auto page = check_refer(request, &ReferOptions::play); !page.ok()) {
        report_stream(Action::on_stop, request, plan);  // its on_play has succeeded
        return page.error();
    }
    const auto elsewhere = pulls(request) ? Result<bool>(true) : is_elsewhere(request, plan, deadline);
    if (!elsewhere.ok()) {
        report_stream(Action::on_stop, request, plan);
        return elsewhere.error();
    }
    if (*elsewhere)
        return session::Answer::Pull{std::move(plan)};
    if (auto other = placer_ != nullptr ? placer_->hand_on(request, plan) : std::nullopt) {
        report_stream(Action::on_stop, request, plan);
        return *std::move(other);
    }
    return plan;
}

std::optional<session::Redirect> Admission::send_on(const session::ClientRequest& request) const {
    return placer_ != nullptr && is_of_cluster(request.vhost) ? placer_->send_on(request) : std::nullopt;
}

bool Admission::is_of_workers(const std::string& name) const {
    const auto vhost = serving_vhost(name);
    return workers_ != nullptr && relay_ != nullptr && workers_->is_on() && vhost.ok() &&
           (*vhost)->cluster.mode == service::relay::ClusterMode::local;
}

// A worker serves others only what is published on it, so that no chain of workers can form.
Result<bool> Admission::is_on_other_worker(const session::ClientRequest& request, const session::StreamPlan& plan,
                                           io::Deadline deadline) {
    if (workers_->publishes(plan.url))
        return false;
    if (request.is_sibling)
        return Error(Errc::not_found, "this worker does not have the stream");
    if (relay_->has(plan.url))
        return true;
    const auto where = workers_->find(plan.url, deadline);
    if (!where.ok() && where.code() == Errc::cancelled)
        return where.error();
    return where.ok() && where->has_value();
}

bool Admission::is_of_cluster(const std::string& name) const {
    const auto vhost = serving_vhost(name);
    return cluster_ != nullptr && relay_ != nullptr && cluster_->is_on() && vhost.ok() &&
           (*vhost)->cluster.mode == service::relay::ClusterMode::local;
}

// A stream that no node has is waited for here, as on a server that is alone. Nodes do not pull for each other: they all ask the
// same registry. What is being pulled already is given to those whom the stream's owner has sent here.
Result<bool> Admission::is_elsewhere(const session::ClientRequest& request, const session::StreamPlan& plan,
                                     io::Deadline deadline) {
    if (is_of_workers(request.vhost))
        return is_on_other_worker(request, plan, deadline);
    if (!is_of_cluster(request.vhost) || cluster_->publishes(plan.url))
        return false;
    if (request.is_relay()) {
        const auto pulled = relay_->find(plan.url);
        const bool is_playing = pulled && pulled->state == service::relay::PullFacts::State::playing;
        if (is_playing || (pulled && service::cluster::has_branch_mark(request.param)))
            return true;
        return Error(Errc::not_found, "this node does not have the stream");
    }
    if (relay_->has(plan.url))
        return true;
    const auto where = TRY(cluster_->find(plan.url, deadline));
    if (std::holds_alternative<engine::cluster::There>(where))
        return true;
    return std::holds_alternative<engine::cluster::Unknown>(where) && !cluster_->member()->neighbours().empty();
}

bool Admission::asks_coworkers(const session::ClientRequest& request) const {
    const auto vhost = serving_vhost(request.vhost);
    return coworkers_ != nullptr && vhost.ok() && (*vhost)->cluster.mode == service::relay::ClusterMode::local &&
           (*vhost)->cluster.origin_cluster;
}

bool Admission::pulls(const session::ClientRequest& request) const {
    const auto vhost = serving_vhost(request.vhost);
    return relay_ != nullptr && vhost.ok() && (*vhost)->cluster.mode == service::relay::ClusterMode::remote;
}

Result<void> Admission::pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) {
    // A publisher that sends nothing yet is waited for as on a server that is alone. A WebRTC player has to know the codecs.
    const bool may_wait = is_of_workers(request.vhost) && request.kind != ClientKind::rtc_play;
    const auto limit = may_wait ? deadline.sooner(io::Deadline::after(kFirstMediaLimit)) : deadline;
    auto pulled = relay_->pull(request, plan, limit);
    if (may_wait && !pulled.ok() && pulled.code() == Errc::not_found)
        return {};
    if (!pulled.ok())
        report_stream(Action::on_stop, request, plan);  // its on_play has accepted it
    return pulled;
}

Result<void> Admission::fetch(const session::ClientRequest& request, io::Deadline deadline) {
    if (relay_ == nullptr)
        return {};
    const session::StreamPlan plan = TRY(plan_for(request));
    const bool is_had_elsewhere = pulls(request) || TRY(is_elsewhere(request, plan, deadline));
    return is_had_elsewhere ? relay_->pull(request, plan, deadline) : Result<void>();
}

Result<void> Admission::check_play(const session::ClientRequest& request) const {
    using service::access::Role;
    TRY(check_refer(request, &ReferOptions::all));
    TRY(service::access::check_security(TRY(serving_vhost(request.vhost))->security, Role::play, request.peer_ip));
    return check_refer(request, &ReferOptions::play);
}

bool Admission::guards_play(const session::ClientRequest& request) const {
    const Vhost* vhost = settings_->find_vhost(request.vhost);
    return vhost != nullptr && vhost->guards_play();
}

void Admission::report_stream(Action action, const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (hooks_ == nullptr || plan.is_trusted_relay)
        return;
    const Vhost* vhost = settings_->find_vhost(plan.vhost);
    const bool is_there = vhost != nullptr && vhost->name == plan.vhost;
    hooks_->tell(action, is_there ? vhost->http_hooks : service::hooks::HookOptions(), {request, plan.vhost, plan.url});
}

void Admission::report_recording(const session::ClientRequest& request, const session::StreamPlan& plan, const std::string& file,
                                 const std::string& error) {
    const Vhost* vhost = settings_->find_vhost(plan.vhost);
    if (hooks_ == nullptr || vhost == nullptr || vhost->name != plan.vhost)
        return;
    std::error_code ignored;
    const std::string folder = std::filesystem::current_path(ignored).string();
    hooks_->report_recording(vhost->http_hooks, {request, plan.vhost, plan.url}, {folder, file, error});
}

void Admission::report_closed(const session::ClientRequest& request, const session::Traffic& traffic) {
    const Vhost* vhost = settings_->find_vhost(request.vhost);
    if (request.is_sibling)
        return;
    if (trusted_ids_.erase(request.id) != 0)
        return;
    if (hooks_ != nullptr && vhost != nullptr)
        hooks_->tell(Action::on_close, vhost->http_hooks, {request, vhost->name, {}}, traffic);
}

}  // namespace live::settings
