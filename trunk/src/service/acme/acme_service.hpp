// AcmeService: keeps the certificate of the conf's `acme` block: orders it from the certificate authority, stores it beside the
// pid file, and renews it. The TLS services notice the new file by themselves. One process of the server has this service.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "engine/acme/client.hpp"
#include "io/net/tcp_listener.hpp"
#include "service/acme/challenge_handler.hpp"
#include "service/acme/options.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"

namespace live::service::acme {

// A self-signed certificate in place of the first one, so that the TLS services can start. Nothing if there is a file. Blocks.
Result<void> make_first_certificate(const AcmeFiles& files);

class AcmeService final : public Service {
public:
    static constexpr std::chrono::seconds kRequestLimit{30};
    // Every process reads the certificate of a challenge within this time.
    static constexpr std::chrono::seconds kShownAfter{5};
    // Between two looks at the certificate: the clock may be set.
    static constexpr std::chrono::hours kLookEvery{1};

    // The listeners for HTTP-01; none for a port that http_server has already.
    using Listen = std::function<Result<std::vector<std::unique_ptr<io::TcpListener>>>()>;

    // `client`, `scratch`, `places` and `log` must outlive this.
    struct Shared {
        const http_client::HttpClient& client;
        MutBytes scratch;
        session::ConnectionLimits& places;
        Listen listen;
        std::string server;  // the Server header
    };
    AcmeService(AcmeOptions options, AcmeFiles files, Shared shared, const Log& log);
    ~AcmeService();

    // Service
    std::string_view name() const override { return "acme"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Begins no further order: another process may have this service.
    Result<void> close(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    void write_metrics(MetricsText& text) const override;

private:
    struct Port;

    void run(io::Deadline deadline);
    Result<std::chrono::sys_seconds> due(io::Deadline deadline) const;
    engine::acme::Refused order(io::Deadline deadline);
    engine::acme::Refused converse(engine::acme::Client& client, const std::string& key_pem, io::Deadline deadline);
    Result<void> send(engine::acme::Client& client, const engine::acme::Request& request, io::Deadline deadline) const;
    Result<void> present(const engine::acme::ChallengeToPresent& challenge, io::Deadline deadline);
    void withdraw(io::Deadline deadline);
    Result<void> store(const std::string& chain, const std::string& key_pem, io::Deadline deadline) const;
    Result<engine::acme::P256Key> account(io::Deadline deadline) const;
    Result<void> open_port();
    Result<void> close_port(io::Deadline deadline);

    const AcmeOptions options_;
    const AcmeFiles files_;
    Shared shared_;
    const Log& log_;
    ChallengeHandler challenges_;
    session::http::Router router_;
    session::http::Context context_;
    double jitter_ = 0;
    bool is_closing_ = false;
    std::uint64_t issued_ = 0;
    std::uint64_t failed_ = 0;
    std::unique_ptr<Port> port_;  // while HTTP-01 may be asked for
};

}  // namespace live::service::acme
