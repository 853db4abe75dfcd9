// Server: the whole of a running process, wired together. It owns every part in the order they depend on each other, listens,
// reloads and stops in the opposite order. What a part does is written in its room; here is only who knows whom.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/dvrs_handler.hpp"
#include "api/snapshot_handler.hpp"
#include "api/stream_list_handler.hpp"
#include "base/log.hpp"
#include "io/scope.hpp"
#include "io/tcp_listener.hpp"
#include "io/tls_context.hpp"
#include "main/beat_source.hpp"
#include "main/caster_front.hpp"
#include "main/http_front.hpp"
#include "main/memory_counts.hpp"
#include "main/memory_keeper.hpp"
#include "main/rtc_front.hpp"
#include "main/served_certificate.hpp"
#include "main/server_names.hpp"
#include "main/settings.hpp"
#include "main/settings_admission.hpp"
#include "main/settings_files.hpp"
#include "main/settings_hls.hpp"
#include "main/settings_mounts.hpp"
#include "main/settings_stream_list.hpp"
#include "media/stream_table.hpp"
#include "service/access_log/access_log.hpp"
#include "service/dash/dash_handler.hpp"
#include "service/dash/dash_service.hpp"
#include "service/dvr/dvr_service.hpp"
#include "service/files/sessions.hpp"
#include "service/forward/forward_service.hpp"
#include "service/heartbeat/heartbeat.hpp"
#include "service/hls/hls_handler.hpp"
#include "service/hls/hls_service.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/http_client/http_client.hpp"
#include "service/ingest/ingest_service.hpp"
#include "service/snapshot/snapshot_service.hpp"
#include "service/stats/stream_board.hpp"
#include "service/transcode/transcoder_factory.hpp"
#include "session/common/client_table.hpp"
#include "session/common/fan_out.hpp"
#include "session/common/places.hpp"
#include "session/common/traffic.hpp"
#include "session/flv/play_handler.hpp"
#include "session/rtmp/acceptor.hpp"

namespace live::main_ {

class Server {
    struct Private {};

public:
    // Listens on everything the settings say. Errc::conflict when a port is taken, Errc::denied, Errc::system. A loop exists.
    static Result<std::unique_ptr<Server>> create(Settings settings, ServerNames names, std::size_t connections_max,
                                                  const Log& log);
    Server(Private, Settings settings, ServerNames names, std::size_t connections_max, const Log& log);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Takes over what may change while running; an error means that nothing changed.
    Result<void> reload(Settings settings, std::size_t connections_max);

    // The stop sequence, in parts, so that a graceful stop can wait between them.
    void close_listeners(io::Deadline deadline);
    void stop_children(io::Deadline deadline);
    // Those who publish leave by themselves, or at stop_sessions().
    void ask_publishers_to_leave();
    void stop_sessions(io::Deadline deadline);

    // Somebody has moved the access log away.
    void reopen_access_log() { access_log_.open(); }

    // What the API tells of it.
    void note_reload(api::RawControl::Reload reload) { last_reload_ = std::move(reload); }

    const Settings& settings() const { return *settings_; }
    std::size_t connections() const { return places_.used(); }

private:
    class Events;
    class Counters;
    class Vhosts;
    class Raw;
    class Ready;

    Result<void> start();
    Result<void> listen_rtmp(const Settings& settings);
    Result<std::vector<std::unique_ptr<io::TcpListener>>> open_new(const std::vector<std::string>& texts, const char* label);
    void start_acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, const char* label);
    void close_missing(const Settings& settings);
    void kick_lost_clients();
    Result<void> load_client_tls();
    Result<void> start_callbacks();
    void prepare_conversion(const Settings& settings, io::Deadline deadline);
    void start_forwarding();
    service::dvr::DvrContext recording_context();
    void finish_left_recordings(io::Deadline deadline);
    void apply_ingests();
    void set_limits(std::size_t connections_max);
    void run_housekeeping(io::Deadline deadline);
    void watch_certificates(io::Deadline deadline);

    const Log& log_;
    ServerNames names_;
    std::unique_ptr<const Settings> settings_;
    SettingsAdmission admission_;
    media::SlabPool slabs_;
    service::transcode::TranscoderFactory transcoders_;
    media::StreamTable streams_;
    io::Scope services_{"service"};
    io::Scope connections_{"connection"};
    io::Scope listeners_{"listener"};
    session::FanOut fan_out_;
    service::stats::StreamBoard board_{streams_};
    service::access_log::AccessLog access_log_;
    session::ClientTable clients_;
    session::Traffic traffic_;
    session::Places places_;
    std::vector<std::uint8_t> scratch_;
    std::unique_ptr<Events> events_;
    std::unique_ptr<Counters> counters_;
    std::unique_ptr<Vhosts> vhosts_;
    session::rtmp::Context rtmp_;
    SettingsMounts mounts_;
    session::flv::Context flv_;
    session::flv::PlayHandler flv_player_;
    CasterFront casters_;
    RtcFront rtc_;
    ServedCertificate rtmps_certificate_;
    // Also those whose listener is closed: their connections go on.
    std::vector<std::unique_ptr<session::rtmp::Acceptor>> acceptors_;
    std::unique_ptr<io::TlsContext> client_tls_;
    std::unique_ptr<service::forward::ForwardService> forward_;
    service::ingest::IngestService ingest_;
    SettingsFiles files_;
    service::files::PathClaims claims_;  // of recordings, HLS and DASH
    service::dvr::OpenRecordings open_recordings_;
    service::dvr::DvrService dvr_;
    SettingsHls hls_settings_;
    service::files::Sessions viewers_;  // of HLS and DASH
    service::hls::HlsService hls_;
    service::hls::HlsHandler hls_player_;
    service::dash::DashService dash_;
    service::dash::DashHandler dash_player_;
    MemoryKeeper memory_keeper_{{places_.memory(), streams_, hls_, dash_, clients_}, log_};
    service::snapshot::SnapshotService snapshots_{streams_};
    std::unique_ptr<Raw> raw_;
    std::unique_ptr<Ready> ready_;
    ProcessMemory memory_{slabs_, board_, places_, streams_, rtc_.port(), log_, access_log_};
    bool takes_clients_ = false;
    std::unique_ptr<api::Allocator> allocator_;
    api::RawControl::Reload last_reload_;
    HttpFront::Shown shown_;
    HttpFront http_;
    api::DvrsHandler dvrs_api_{http_.info(), dvr_};
    api::SnapshotHandler snapshot_api_{snapshots_};
    SettingsStreamList stream_list_settings_;
    api::StreamListHandler stream_list_{http_.info(), board_, stream_list_settings_};
    BeatSource beats_{settings_, names_, http_};
    // All three from start() on.
    std::unique_ptr<service::http_client::HttpClient> http_client_;
    std::unique_ptr<service::hooks::HookService> hooks_;
    std::unique_ptr<service::heartbeat::Heartbeat> heartbeat_;
};

}  // namespace live::main_
