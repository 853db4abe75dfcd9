#include "app/wiring/caster_wiring.hpp"

#include <utility>

#include "app/wiring/listening.hpp"
#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "base/version.hpp"

namespace live::app {

struct CasterWiring::Caster {
    Caster(session::http_live::Context& live, const std::string& output, MutBytes scratch)
        : handler(live, output),
          context{.router = router, .scratch = scratch, .server = std::string(kSignature), .auth = {}, .limits = {}} {
        router.add("/", handler);
    }

    session::http_live::PublishHandler handler;
    session::http::Router router;
    session::http::Context context;
    std::vector<std::unique_ptr<session::http::Acceptor>> acceptors;
};

CasterWiring::CasterWiring(const settings::CurrentSettings& settings, session::http_live::Context& live, MutBytes scratch,
                           session::ConnectionLimits& places, session::TransportLogs& transports,
                           engine::workers::WorkerIdentity identity, const Log& log)
    : settings_(settings),
      live_(live),
      scratch_(scratch),
      places_(places),
      identity_(identity),
      log_(log),
      mpegts_{live.streams, live.admission, live.events,
              live.clients, places,         settings->srt_server.enabled ? &transports : nullptr} {}

CasterWiring::~CasterWiring() = default;

Result<void> CasterWiring::start(io::Scope&, io::Deadline) {
    for (const settings::StreamCasterOptions& options : settings_->stream_casters) {
        if (options.enabled && options.caster == "flv")
            TRY(start_flv(options));
        // One worker has the ports: a sender's datagrams belong together.
        if (options.enabled && options.caster == "mpegts_over_udp" && identity_.is_first())
            TRY(start_mpegts(options));
    }
    return {};
}

Result<void> CasterWiring::start_flv(const settings::StreamCasterOptions& options) {
    casters_.push_back(std::make_unique<Caster>(live_, options.output, scratch_));
    Caster& caster = *casters_.back();
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(options.listen, sharing_of(identity_)))) {
        auto listener = TRY(listen_at(wanted, "the stream caster", log_));
        if (!listener)
            continue;
        LOG_INFO(log_, "FLV caster listen at tcp://{}, output={}", wanted.endpoint.text(), redacted(options.output));
        caster.acceptors.push_back(std::make_unique<session::http::Acceptor>(
            std::move(listener), nullptr, caster.context, places_, session::ConnectionLimits::Kind::client, connections_, log_));
        auto* acceptor = caster.acceptors.back().get();
        TRY(listeners_.start("caster-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); }));
    }
    return {};
}

Result<void> CasterWiring::start_mpegts(const settings::StreamCasterOptions& options) {
    for (const std::string& text : options.listen) {
        const auto addresses = TRY(session::mpegts::parse_listen_address(text));
        const std::string output = TRY(session::mpegts::output_of(options.output, addresses.front().endpoint.port));
        auto port =
            std::make_unique<session::mpegts::Port>(mpegts_, TRY(wire::rtmp::parse_stream_url(output)), connections_, log_);
        for (const session::mpegts::ListenAddress& address : addresses) {
            const auto listening = port->listen(address);
            if (!listening.ok() && address.may_be_missing && listening.code() == Errc::system) {
                LOG_WARN(log_, "the stream caster does not listen at {}: {}", address.text(), listening.error().sentence());
                continue;
            }
            if (!listening.ok())
                return Error(listening.error()).during("listening for the stream caster");
            LOG_INFO(log_, "MPEG-TS caster listen at udp://{}, output={}", address.text(), redacted(output));
        }
        TRY(port->start(listeners_));
        ports_.push_back(std::move(port));
    }
    return {};
}

Result<void> CasterWiring::hand_over(io::Deadline deadline) {
    for (const auto& caster : casters_)
        for (const auto& acceptor : caster->acceptors)
            acceptor->close();
    return listeners_.stop(deadline);
}

Result<void> CasterWiring::stop(io::Deadline deadline) { return io::stop_all({&listeners_, &connections_}, deadline); }

session::Traffic CasterWiring::traffic() const {
    session::Traffic total;
    for (const auto& caster : casters_) {
        total.received_bytes += caster->context.traffic.received_bytes;
        total.sent_bytes += caster->context.traffic.sent_bytes;
    }
    for (const auto& port : ports_)
        total.received_bytes += port->counters().bytes;
    return total;
}

std::optional<session::Protocol> CasterWiring::protocol() {
    return session::Protocol{.name = "casters", .traffic = [this] { return traffic(); }};
}

}  // namespace live::app
