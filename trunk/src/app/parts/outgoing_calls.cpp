#include "app/parts/outgoing_calls.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/start/log_file.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"

namespace live::app {

Result<std::unique_ptr<io::TlsContext>> OutgoingCalls::load_tls(const settings::TlsClientOptions& options, const Log& log) {
    if (!options.verify)
        LOG_WARN(log, "tls_client.verify is off: callbacks and forwards over TLS do not check the server's certificate");
    auto tls = io::TlsContext::client(options.verify ? io::TlsVerify::peer : io::TlsVerify::none, options.ca_file);
    if (tls.ok() || tls.code() != Errc::system)
        return tls;
    LOG_ERROR(log, "callbacks and forwards over TLS fail: {}", tls.error().sentence());
    return std::unique_ptr<io::TlsContext>();
}

namespace {

std::vector<std::string> key_set_urls(const settings::Settings& settings) {
    std::vector<std::string> urls;
    for (const settings::Vhost& vhost : settings.vhosts)
        for (const std::string& url : vhost.access.enabled ? vhost.access.jwks : std::vector<std::string>())
            if (std::ranges::find(urls, url) == urls.end())
                urls.push_back(url);
    return urls;
}

const service::tokens::TokenOptions* token_rules(const settings::Settings& settings) {
    const settings::Vhost* const vhost = settings.find_vhost(settings::kDefaultVhost);
    return vhost != nullptr && vhost->access.enabled ? &vhost->access : nullptr;
}

}  // namespace

OutgoingCalls::OutgoingCalls(const settings::CurrentSettings& settings, const ServerNames& names,
                             std::unique_ptr<io::TlsContext> tls, ClientCore& clients, const Log& log)
    : tls_(std::move(tls)),
      http_(fmt::format("{}/{}", kProduct, kVersion), clients.scratch(), tls_.get()),
      tracer_(settings->tracing, {settings->tracing.service_name, names.server_id, names.service_id, names.process_id}, http_,
              log),
      hooks_(http_, {names.server_id, names.service_id}, clients.stats(), log, &tracer_),
      key_sets_(
          http_, [&settings] { return key_set_urls(*settings); }, log),
      api_access_(
          clients.users(), {clients.keys(), key_sets_}, [&settings] { return token_rules(*settings); },
          {settings->http_api.enabled ? settings->http_api.audit_log : "off",
           names.identity().is_worker() ? io::LineWriter::Rotation{} : rotation_of(settings->log)},
          log) {
    clients.table().add_watcher(tracer_);
}

}  // namespace live::app
