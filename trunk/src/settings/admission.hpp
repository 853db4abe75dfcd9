// Admission: answers "may this client publish or play?" from the settings tree: which virtual host serves it, whether that host
// is enabled, what its page and address rules and the operator's callbacks decide, and which options a session gets. The order of
// the checks is the same for every protocol; a check that only some protocols have is skipped for the others.
#pragma once

#include <string>
#include <unordered_set>

#include "api/streams/snapshot_handler.hpp"
#include "service/access_log/access_log.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/cluster/placer.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/relay/origins/coworkers.hpp"
#include "service/relay/relay_proof.hpp"
#include "service/relay/relay_service.hpp"
#include "service/relay/token_check.hpp"
#include "service/workers/worker_service.hpp"
#include "session/common/admission.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtmp/context.hpp"
#include "settings/current_settings.hpp"

namespace live::settings {

class Admission final : public session::Admission,
                        public session::rtmp::VhostOptions,
                        public service::access_log::VhostNames,
                        public api::StreamFetcher {
public:
    // `settings` outlives this.
    explicit Admission(const CurrentSettings& settings) : settings_(settings) {}
    // Call before the first client. Without it, no callback is made.
    void set_hooks(service::hooks::HookService& hooks) { hooks_ = &hooks; }
    // Without it, memory never refuses a publisher.
    void set_memory(const session::MemoryBudget& memory) { memory_ = &memory; }
    // Without it, a publisher that has gone is noticed after the callbacks of the one that returns.
    void set_streams(media::StreamTable& streams) { streams_ = &streams; }
    // Without it, edges have the streams that are published on them.
    void set_relay(service::relay::RelayService& relay) { relay_ = &relay; }

    // Without it, token_traverse has no effect.
    void set_token_check(service::relay::TokenCheck& tokens) { tokens_ = &tokens; }
    // Without it, or without a registry in the settings, this server is alone.
    void set_cluster(service::cluster::ClusterService& cluster) { cluster_ = &cluster; }
    // Without it, this process is no worker.
    void set_workers(service::workers::WorkerService& workers) { workers_ = &workers; }
    // Without it, no player is sent to another server.
    void set_coworkers(service::relay::Coworkers& coworkers) { coworkers_ = &coworkers; }
    // Without it, no player is sent to another node of a cluster.
    void set_placer(service::cluster::Placer& placer) { placer_ = &placer; }

    // Memory, virtual host, refer.all, on_connect, security, refer.publish, on_publish, forward.backend, the cluster's registry.
    session::Answer publish(const session::ClientRequest& request, io::Deadline deadline) override;
    // Virtual host, refer.all, on_connect, security, the other origins or nodes of a cluster, on_play, refer.play. An edge pulls
    // what it has not.
    session::Answer play(const session::ClientRequest& request, io::Deadline deadline) override;
    Result<void> pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) override;
    bool may_pull(const session::ClientRequest& request) const override {
        return pulls(request) || asks_coworkers(request) || is_of_cluster(request.vhost) || is_of_workers(request.vhost);
    }
    // Whether publishers of the virtual host are registered in the cluster. An edge's are its origin's.
    bool is_of_cluster(const std::string& vhost) const;
    // Whether another worker may have the streams of the virtual host. An edge's workers all ask its origins.
    bool is_of_workers(const std::string& vhost) const;
    // What a client with these names would get. Errors as serving_vhost().
    Result<session::StreamPlan> plan_for(const session::ClientRequest& request) const;
    std::optional<session::Redirect> send_on(const session::ClientRequest& request) const override;
    // The same without the callbacks.
    Result<void> check_play(const session::ClientRequest& request) const override;
    bool guards_play(const session::ClientRequest& request) const override;

    // Notifications, with the current settings. None of these suspends.
    void report_stream(service::hooks::Action action, const session::ClientRequest& request, const session::StreamPlan& plan);
    void report_recording(const session::ClientRequest& request, const session::StreamPlan& plan, const std::string& file,
                          const std::string& error);
    void report_closed(const session::ClientRequest& request, const session::Traffic& traffic);

    // The virtual host that serves `name`. Errc::not_found when there is none, Errc::denied when it is disabled.
    Result<const Vhost*> serving_vhost(const std::string& name) const;

    // session::rtmp::VhostOptions
    Result<session::rtmp::RtmpOptions> options_of(const std::string& vhost) const override;

    // api::StreamFetcher
    Result<void> fetch(const session::ClientRequest& request, io::Deadline deadline) override;

    // service::access_log::VhostNames
    std::string serving(const std::string& name) const override;

private:
    // Whether a player's stream is to be had from another node. Errc::not_found for another node that asks for what is not here.
    Result<bool> is_elsewhere(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);
    Result<bool> is_on_other_worker(const session::ClientRequest& request, const session::StreamPlan& plan,
                                    io::Deadline deadline);
    // `plan` says afterwards whether it is a trusted relay, whose callbacks were asked elsewhere.
    Result<void> check_stranger(const session::ClientRequest& request, const service::hooks::Subject& subject,
                                session::StreamPlan& plan, io::Deadline deadline);
    // Once per client: a proof is good once.
    bool is_trusted_relay(const session::ClientRequest& request);
    Result<void> end_gone_publisher(const session::StreamPlan& plan, io::Deadline deadline);
    Result<void> check_token(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);
    bool pulls(const session::ClientRequest& request) const;
    bool asks_coworkers(const session::ClientRequest& request) const;
    Result<service::hooks::Granted> ask(service::hooks::Action action, const service::hooks::Subject& subject,
                                        io::Deadline deadline);
    Result<void> check_refer(const session::ClientRequest& request,
                             std::vector<std::string> service::access::ReferOptions::*names) const;

    const CurrentSettings& settings_;
    service::hooks::HookService* hooks_ = nullptr;
    const session::MemoryBudget* memory_ = nullptr;
    media::StreamTable* streams_ = nullptr;
    service::relay::RelayService* relay_ = nullptr;
    service::relay::Coworkers* coworkers_ = nullptr;
    service::cluster::ClusterService* cluster_ = nullptr;
    service::cluster::Placer* placer_ = nullptr;
    service::workers::WorkerService* workers_ = nullptr;
    service::relay::TokenCheck* tokens_ = nullptr;
    service::relay::RelayProofs proofs_;
    // Connections of trusted relays, for on_close, which has no plan.
    std::unordered_set<std::string> trusted_ids_;
};

// A source's URL: "/app/stream" in the default virtual host, "vhost/app/stream" in another.
std::string stream_url(const Vhost& vhost, const std::string& app, const std::string& stream);

}  // namespace live::settings
