#include "app/wiring/rtmp_wiring.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/wiring/listening.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "session/rtmp/connection.hpp"
#include "session/rtmp/protocol.hpp"

namespace live::app {

RtmpWiring::RtmpWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log)
    : settings_(settings),
      context_{shared.streams,
               shared.admission,
               shared.vhosts,
               shared.events,
               shared.fan_out,
               shared.clients,
               traffic_,
               shared.scratch,
               std::string(kVersion),
               std::string(kSignature),
               shared.process_id,
               shared.passwords,
               engine::rtmp::PublisherAuth(shared.secret.empty() ? random_id() + random_id() : shared.secret)},
      places_(shared.places),
      identity_(shared.identity),
      log_(log),
      certificate_("RTMPS", shared.secret, log) {}

RtmpWiring::~RtmpWiring() = default;

// Opens listeners that are not open yet.
Result<std::vector<std::unique_ptr<io::TcpListener>>> RtmpWiring::open_new(const std::vector<std::string>& texts,
                                                                           const char* label) {
    std::vector<std::unique_ptr<io::TcpListener>> opened;
    const auto open = endpoints();
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(texts, sharing_of(identity_)))) {
        if (std::ranges::find(open, wanted.endpoint) != open.end())
            continue;
        if (auto listener = TRY(listen_at(wanted, label, log_)))
            opened.push_back(std::move(listener));
    }
    return opened;
}

void RtmpWiring::start_acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, const char* label) {
    LOG_INFO(log_, "{} listen at tcp://{}, fd={}", label, listener->endpoint().text(), listener->native_handle());
    acceptors_.push_back(
        std::make_unique<session::rtmp::Acceptor>(std::move(listener), tls, context_, places_, connections_, log_));
    auto* acceptor = acceptors_.back().get();
    MUST(listeners_.start("rtmp-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); }));
}

Result<void> RtmpWiring::start(io::Scope& fibers, io::Deadline deadline) {
    TRY(prepare(deadline));
    return fibers.start("certificates", [this](io::Deadline forever) { certificate_.watch(forever); });
}

Result<void> RtmpWiring::prepare(io::Deadline) {
    const settings::Settings& settings = settings_.coming();
    auto plain = TRY(open_new(settings.listen, "RTMP"));
    std::vector<std::unique_ptr<io::TcpListener>> secure;
    if (settings.rtmps.enabled) {
        secure = TRY(open_new(settings.rtmps.listen, "RTMPS"));
        TRY(certificate_.use(with_acme(settings.rtmps.tls, settings)));
    }
    for (auto& listener : plain)
        start_acceptor(std::move(listener), nullptr, "RTMP");
    for (auto& listener : secure)
        start_acceptor(std::move(listener), certificate_.context(), "RTMPS");
    return {};
}

void RtmpWiring::apply(io::Deadline) {
    std::vector<Endpoint> wanted;
    const auto add = [&wanted](const std::vector<std::string>& texts) {
        for (const std::string& text : texts)
            std::ranges::move(MUST(parse_endpoint(text)), std::back_inserter(wanted));
    };
    add(settings_->listen);
    if (settings_->rtmps.enabled)
        add(settings_->rtmps.listen);
    for (const auto& acceptor : acceptors_) {
        if (!acceptor->listener().is_open() || std::ranges::find(wanted, acceptor->listener().endpoint()) != wanted.end())
            continue;
        LOG_INFO(log_, "close listener at {}", acceptor->listener().endpoint().text());
        acceptor->close();
    }
}

Result<void> RtmpWiring::close(io::Deadline deadline) {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    return listeners_.stop(deadline);
}

Result<void> RtmpWiring::stop(io::Deadline deadline) {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    return io::stop_all({&listeners_, &connections_}, deadline);
}

void RtmpWiring::serve_worker(std::unique_ptr<io::TcpStream> stream) {
    // A std::function is copied, so the stream has two owners until the fiber takes it.
    const auto held = std::make_shared<std::unique_ptr<io::TcpStream>>(std::move(stream));
    const auto started = connections_.start("worker", [this, held](io::Deadline forever) {
        const Log log = log_.with_id(random_id());
        const session::Arrival arrival{.client_ip = "127.0.0.1", .server_ip = "127.0.0.1", .is_sibling = true};
        std::make_unique<session::rtmp::Connection>(std::move(*held), arrival, context_, places_.memory(), log)->run(forever);
    });
    if (!started.ok())
        LOG_WARN(log_, "connection of another worker: not served: {}", started.error().text());
}

std::vector<Endpoint> RtmpWiring::endpoints() const {
    std::vector<Endpoint> endpoints;
    for (const auto& acceptor : acceptors_)
        if (acceptor->listener().is_open())
            endpoints.push_back(acceptor->listener().endpoint());
    return endpoints;
}

std::optional<session::Protocol> RtmpWiring::protocol() {
    return session::rtmp::describe(traffic_, [this] {
        const settings::RtmpsOptions& secure = settings_->rtmps;
        return session::rtmp::Listening{settings_->listen, secure.enabled ? secure.listen : std::vector<std::string>()};
    });
}

}  // namespace live::app
