// Server: the whole of a running process, wired together. It owns every part in dependency order, listens, reloads, and stops in
// the opposite order. The parts' behaviour is in their rooms; this only connects them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/api_facts.hpp"
#include "app/drain.hpp"
#include "app/housekeeping.hpp"
#include "app/memory/memory_keeper.hpp"
#include "app/output_wiring.hpp"
#include "app/vhosts/ingests.hpp"
#include "app/vhosts/mounts.hpp"
#include "app/vhosts/stream_fetcher.hpp"
#include "app/vhosts/stream_list.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/vhosts/vhost_table.hpp"
#include "app/wiring/caster_wiring.hpp"
#include "app/wiring/heartbeat_facts.hpp"
#include "app/wiring/http_wiring.hpp"
#include "app/wiring/memory_counts.hpp"
#include "app/wiring/rtc_wiring.hpp"
#include "app/wiring/rtmp_wiring.hpp"
#include "app/wiring/server_names.hpp"
#include "app/wiring/srt_wiring.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/tls/tls_context.hpp"
#include "media/source/stream_table.hpp"
#include "service/access_log/access_log.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/cluster/registry_resolver.hpp"
#include "service/forward/forward_service.hpp"
#include "service/heartbeat/heartbeat.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/http_client/http_client.hpp"
#include "service/ingest/ingest_service.hpp"
#include "service/relay/origins/backend_resolver.hpp"
#include "service/relay/origins/origin_peers.hpp"
#include "service/relay/relay_service.hpp"
#include "service/relay/token_check.hpp"
#include "service/rtmp_client/dial.hpp"
#include "service/service_list.hpp"
#include "service/stats/stream_stats.hpp"
#include "service/transcode/transcoder_factory.hpp"
#include "service/workers/datagram_forwarder.hpp"
#include "service/workers/other_files.hpp"
#include "service/workers/passed_offers.hpp"
#include "service/workers/worker_service.hpp"
#include "service/workers/workers_resolver.hpp"
#include "session/common/client_table.hpp"
#include "session/common/protocol.hpp"
#include "session/common/traffic.hpp"
#include "session/fan_out/deferred_encoder.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/http_live/play_handler.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtmp/context.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Server {
    struct Private {};

public:
    // WakeMode on all endpoints of the settings. Errc::conflict when a port is taken, Errc::denied, Errc::system. A loop exists.
    static Result<std::unique_ptr<Server>> create(settings::Settings settings, ServerNames names, std::size_t connections_max,
                                                  const Log& log);
    Server(Private, settings::Settings settings, ServerNames names, std::size_t connections_max,
           std::unique_ptr<io::TlsContext> client_tls, const Log& log);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Applies what may change at runtime; an error means that nothing has changed.
    Result<void> reload(settings::Settings settings, std::size_t connections_max);

    // The stop sequence, in steps, so that a graceful stop can wait between them. First, new clients are refused and child
    // processes end.
    void close(io::Deadline deadline);
    // Before close(): empties a node of a cluster.
    Drain& drain() { return drain_; }
    bool is_cluster_node() const { return node_.is_on(); }
    // Publishers leave by themselves, or are closed at stop().
    void ask_publishers_to_leave();
    void stop(io::Deadline deadline);
    // Instead of close(): a new program has the sockets, and takes new clients.
    void hand_over(io::Deadline deadline);
    service::workers::WorkerService& workers() { return workers_; }

    // The access log was moved away.
    void reopen_access_log() { access_log_.open(); }

    // For the API.
    void note_reload(api::RawControl::Reload reload) { facts_.note_reload(std::move(reload)); }

    void note_warnings(std::vector<std::string> warnings) { facts_.note_warnings(std::move(warnings)); }

    const settings::Settings& settings() const { return *settings_; }
    std::size_t connections() const { return places_.used(); }

private:
    class Events;
    class Moves;

    Result<void> start();
    void list_services();
    ApiWiring::Sources api_sources();
    void kick_lost_clients();
    service::rtmp_client::DialContext dial_context();
    service::relay::PullContext pull_context();
    std::string node_id() const;
    service::cluster::ClusterContext cluster_context();
    service::workers::WorkerContext worker_context();
    // None for streams that workers do not have of each other.
    std::optional<std::string> url_on_workers(const session::ClientRequest& player) const;
    engine::cluster::NodeRecord describe_node() const;
    service::forward::ForwardContext forward_context();
    void set_limits(std::size_t connections_max);

    const Log& log_;
    ServerNames names_;
    settings::CurrentSettings settings_;
    std::unique_ptr<io::TlsContext> client_tls_;  // nullptr: no TLS
    VhostTable vhost_table_{settings_};
    media::SlabPool slabs_;
    service::transcode::TranscoderFactory transcoders_;
    media::StreamTable streams_;
    service::ServiceList services_;
    io::Scope fibers_{"service"};  // of services
    session::FanOut fan_out_;
    session::DeferredEncoder deferred_encoder_{fibers_};
    service::stats::StreamStats stream_stats_{streams_};
    service::access_log::AccessLog access_log_;
    session::ClientTable clients_;
    session::Traffic traffic_;
    session::ConnectionLimits places_;
    // Everything is read into it. malloc would place it 16 bytes into a page, where a copy from the page cache takes three times
    // as long.
    struct alignas(4096) Scratch {
        std::array<std::uint8_t, 128 * 1024> bytes;
    };
    const std::unique_ptr<Scratch> scratch_memory_ = std::make_unique<Scratch>();
    const MutBytes scratch_{scratch_memory_->bytes};
    service::http_client::HttpClient http_client_;
    service::hooks::HookService hooks_;
    // Refers to services below, which in turn need sessions that ask it.
    service::admission::AdmissionPolicies admission_;
    StreamFetcher stream_fetcher_{admission_};
    std::unique_ptr<Events> events_;
    session::rtmp::Context rtmp_context_;
    RtmpWiring rtmp_;
    Mounts mounts_;
    session::http_live::Context http_live_;
    session::http_live::PlayHandler http_live_player_;
    session::TransportLogs transports_{slabs_};
    CasterWiring casters_;
    service::workers::DatagramForwarder forwarder_;
    RtcWiring rtc_;
    SrtWiring srt_;
    VhostOptions<service::relay::ClusterOptions> cluster_options_{settings_, &settings::Vhost::cluster};
    service::relay::StaticResolver listed_origins_;
    service::relay::BackendResolver asked_origins_;
    std::unique_ptr<Moves> moves_;
    service::cluster::ClusterService node_;    // this one, in a cluster
    service::workers::WorkerService workers_;  // this one, among several processes
    service::workers::OtherFiles other_files_{workers_, [this](const auto& player) { return url_on_workers(player); }};
    service::workers::PassedOffers passed_offers_{workers_, streams_,
                                                  [this](const auto& player) { return url_on_workers(player); }};
    service::cluster::RegistryResolver origins_;
    service::workers::WorkersResolver all_origins_;
    service::relay::RelayService relay_;
    service::cluster::PlayerRedirector redirector_{node_, relay_};
    Drain drain_{clients_, streams_, node_, redirector_, log_};
    service::relay::OriginPeers origin_peers_;
    service::relay::TokenCheck token_check_;
    VhostOptions<service::forward::ForwardOptions> forward_options_{settings_, &settings::Vhost::forward};
    service::forward::ForwardService forward_;
    Ingests wanted_ingests_{settings_, [this] { return rtmp_.endpoints(); }};
    service::ingest::IngestService ingest_;
    OutputWiring outputs_;
    MemoryKeeper memory_keeper_{{places_.memory(), streams_, slabs_, services_, clients_, names_.shared_limits()}, log_};
    Housekeeping housekeeping_{{streams_, places_, fan_out_, services_}, log_};
    session::Protocols protocols_;  // of the services
    ApiFacts facts_{
        {settings_, admission_.vhosts(), streams_, protocols_, fan_out_, places_, access_log_, relay_, workers_, drain_, log_}};
    ProcessMemory memory_{slabs_, stream_stats_, places_, protocols_, log_, access_log_};
    std::unique_ptr<api::Allocator> allocator_;
    session::srt::Doctor srt_doctor_{srt_.port()};
    StreamList stream_list_settings_;
    HttpWiring http_;
    HeartbeatFacts heartbeat_facts_{settings_, names_, http_, protocols_};
    service::heartbeat::Heartbeat heartbeat_;
};

}  // namespace live::app
