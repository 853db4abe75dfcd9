// Ports: the listeners of every protocol but HTTP, the stream casters, and the HTTP handlers of live streams.
#pragma once

#include <memory>
#include <vector>

#include "app/parts/client_core.hpp"
#include "app/parts/part.hpp"
#include "app/parts/stream_core.hpp"
#include "app/parts/worker_links.hpp"
#include "app/vhosts/mounts.hpp"
#include "app/wiring/http_wiring.hpp"
#include "app/wiring/rtc_wiring.hpp"
#include "app/wiring/rtmp_wiring.hpp"
#include "app/wiring/rtsp_wiring.hpp"
#include "app/wiring/server_names.hpp"
#include "app/wiring/srt_wiring.hpp"
#include "base/log/log.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/gb28181/gb28181_service.hpp"
#include "session/http_live/context.hpp"
#include "session/http_live/play_handler.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Ports final : public Part {
public:
    // All must outlive this. `http` is used from the start on, so it may be constructed later.
    struct Shared {
        const settings::CurrentSettings& settings;
        const ServerNames& names;
        StreamCore& streams;
        ClientCore& clients;
        service::admission::AdmissionPolicies& admission;
        session::StreamEvents& events;
        WorkerLinks& workers;
        HttpWiring& http;
    };
    Ports(const Shared& shared, const Log& log);
    Ports(const Ports&) = delete;
    Ports& operator=(const Ports&) = delete;

    RtmpWiring& rtmp() { return rtmp_; }
    RtcWiring& rtc() { return rtc_; }
    SrtWiring& srt() { return srt_; }
    RtspWiring& rtsp() { return rtsp_; }

    void add_services(service::ServiceList& services) override;
    void add_routes(HttpWiring& http) override;

private:
    void add_gb28181(const Shared& shared, const Log& log);

    RtmpWiring rtmp_;
    Mounts mounts_;
    session::http_live::Context live_;
    session::http_live::PlayHandler live_player_;
    RtcWiring rtc_;
    SrtWiring srt_;
    RtspWiring rtsp_;
    CertificateExpiries expiries_;
    std::vector<std::unique_ptr<service::Service>> others_;  // protocols that no other part calls
    service::gb28181::Gb28181Service* gb28181_ = nullptr;    // one of them, if it is enabled
    settings::ZlmApiOptions zlm_api_;
};

}  // namespace live::app
