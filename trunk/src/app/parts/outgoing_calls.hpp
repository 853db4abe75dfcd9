// OutgoingCalls: the HTTP and TLS client of this server, and the callbacks and traces that use it.
#pragma once

#include <memory>

#include "app/parts/client_core.hpp"
#include "app/parts/part.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/tls/tls_context.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/http_client/http_client.hpp"
#include "service/tracing/tracer.hpp"
#include "settings/conf/tree.hpp"

namespace live::app {

class OutgoingCalls final : public Part {
public:
    // Loads the trusted authorities. nullptr without the system's OpenSSL: only TLS fails then.
    static Result<std::unique_ptr<io::TlsContext>> load_tls(const settings::TlsClientOptions& options, const Log& log);

    // `clients` and `log` must outlive this.
    OutgoingCalls(const ServerNames& names, const service::tracing::TracingOptions& tracing, std::unique_ptr<io::TlsContext> tls,
                  ClientCore& clients, const Log& log);
    OutgoingCalls(const OutgoingCalls&) = delete;
    OutgoingCalls& operator=(const OutgoingCalls&) = delete;

    io::TlsContext* tls() { return tls_.get(); }
    const service::http_client::HttpClient& http() const { return http_; }
    service::hooks::HookService& hooks() { return hooks_; }
    service::tracing::Tracer& tracer() { return tracer_; }

    // Callbacks end first: they are spans.
    void add_services(service::ServiceList& services) override {
        services.add(tracer_);
        services.add(hooks_);
    }

private:
    const std::unique_ptr<io::TlsContext> tls_;
    service::http_client::HttpClient http_;
    service::tracing::Tracer tracer_;
    service::hooks::HookService hooks_;
};

}  // namespace live::app
