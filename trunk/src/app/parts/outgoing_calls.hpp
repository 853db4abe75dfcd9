// OutgoingCalls: the HTTP and TLS client of this server, and the callbacks, traces and key sets that use it.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "app/parts/client_core.hpp"
#include "app/parts/part.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/tls/tls_context.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/http_client/http_client.hpp"
#include "service/tokens/key_sets.hpp"
#include "service/tracing/tracer.hpp"
#include "service/users/api_access.hpp"
#include "settings/conf/tree.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class OutgoingCalls final : public Part {
public:
    // Loads the trusted authorities. nullptr without the system's OpenSSL: only TLS fails then.
    static Result<std::unique_ptr<io::TlsContext>> load_tls(const settings::TlsClientOptions& options, const Log& log);

    // `settings`, `clients` and `log` must outlive this.
    OutgoingCalls(const settings::CurrentSettings& settings, const ServerNames& names, std::unique_ptr<io::TlsContext> tls,
                  ClientCore& clients, const Log& log);
    OutgoingCalls(const OutgoingCalls&) = delete;
    OutgoingCalls& operator=(const OutgoingCalls&) = delete;

    io::TlsContext* tls() { return tls_.get(); }
    const service::http_client::HttpClient& http() const { return http_; }
    service::hooks::HookService& hooks() { return hooks_; }
    service::tracing::Tracer& tracer() { return tracer_; }
    service::tokens::KeySets& key_sets() { return key_sets_; }
    void set_on_first_keys(std::function<void()> on_first_keys) { key_sets_.set_on_first_read(std::move(on_first_keys)); }
    service::users::ApiAccess& api_access() { return api_access_; }

    // Callbacks end first: they are spans.
    void add_services(service::ServiceList& services) override {
        services.add(tracer_);
        services.add(hooks_);
        services.add(key_sets_);
        services.add(api_access_);
    }

private:
    const std::unique_ptr<io::TlsContext> tls_;
    service::http_client::HttpClient http_;
    service::tracing::Tracer tracer_;
    service::hooks::HookService hooks_;
    service::tokens::KeySetService key_sets_;
    service::users::ApiAccess api_access_;
};

}  // namespace live::app
