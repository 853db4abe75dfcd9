// RtcWiring: everything this process does with WebRTC, wired together: the ports, the opener, and the HTTP API calls that open
// and close sessions. Permissions of a virtual host come from the settings.
#pragma once

#include <memory>

#include "app/wiring/http_wiring.hpp"
#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/service.hpp"
#include "service/workers/offer_forwarder.hpp"
#include "session/common/client_table.hpp"
#include "session/common/protocol.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtc/plain_video.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class RtcWiring final : public service::Service {
public:
    struct Shared {
        media::StreamTable& streams;
        session::Admission& admission;
        const service::admission::VhostPolicy& vhosts;
        session::StreamEvents& events;
        session::ClientTable& clients;
        session::ConnectionLimits& places;
        MutBytes scratch;
        HttpWiring& http;
        engine::workers::WorkerIdentity identity{};
        session::DatagramForwarding& forwarding;
        service::workers::OfferForwarder& offers;
    };

    // `settings` and the shared objects outlive this.
    RtcWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log);
    ~RtcWiring() override;
    RtcWiring(const RtcWiring&) = delete;
    RtcWiring& operator=(const RtcWiring&) = delete;

    // Before the start; it outlives the players.
    void set_plain_video(session::rtc::PlainVideo& plain_video);

    // WakeMode and serves, if enabled in the settings. To be called before HttpWiring::start(). Errors as UdpSocket::bind.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends all sessions.
    Result<void> stop(io::Deadline deadline) override;
    // Sessions continue; their datagrams arrive by Protocol::take_datagram.
    Result<void> hand_over(io::Deadline deadline) override;
    std::string_view name() const override { return "WebRTC"; }
    std::optional<session::Protocol> protocol() override;

private:
    // The entire WebRTC implementation, hidden because few files need it.
    class Parts;

    std::unique_ptr<Parts> parts_;
};

}  // namespace live::app
