// RtcWiring: everything this process does with WebRTC, wired together: the ports, the opener, and the HTTP API calls that open
// and close sessions. Permissions of a virtual host come from the settings.
#pragma once

#include <memory>

#include "api/system/metrics_handlers.hpp"
#include "app/wiring/http_wiring.hpp"
#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/service.hpp"
#include "service/workers/passed_offers.hpp"
#include "session/common/client_table.hpp"
#include "session/common/traffic.hpp"
#include "session/limits/places.hpp"
#include "session/rtc/transport/port.hpp"
#include "settings/admission.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class RtcWiring final : public service::Service, public api::RtcMeter {
public:
    struct Shared {
        media::StreamTable& streams;
        settings::Admission& admission;
        session::StreamEvents& events;
        session::ClientTable& clients;
        session::Places& places;
        MutBytes scratch;
        HttpWiring& http;
        engine::workers::WorkerIdentity seat{};
        session::StraySink& strays;
        service::workers::PassedOffers& offers;
    };

    // `settings` and the shared objects outlive this.
    RtcWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log);
    ~RtcWiring() override;
    RtcWiring(const RtcWiring&) = delete;
    RtcWiring& operator=(const RtcWiring&) = delete;

    // Listens and serves, if enabled in the settings. To be called before HttpWiring::start(). Errors as UdpSocket::bind.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends all sessions.
    Result<void> stop(io::Deadline deadline) override;
    // Sessions go on; their datagrams come by take_stray().
    Result<void> hand_over(io::Deadline deadline) override;
    void take_stray(const session::Stray& stray, MutBytes datagram);
    std::string_view name() const override { return "WebRTC"; }
    session::Traffic traffic() const;
    // For statistics.
    const session::rtc::Port& port() const;
    session::rtc::PortReading reading() const override { return port().read(); }
    std::size_t half_open() const override { return port().half_open(); }
    int circuit_breaker_level() const override;

private:
    // The entire WebRTC implementation, hidden because few files need it.
    class Parts;

    std::unique_ptr<Parts> parts_;
};

}  // namespace live::app
