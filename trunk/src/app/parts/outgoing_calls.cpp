#include "app/parts/outgoing_calls.hpp"

#include <utility>

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

OutgoingCalls::OutgoingCalls(const ServerNames& names, const service::tracing::TracingOptions& tracing,
                             std::unique_ptr<io::TlsContext> tls, ClientCore& clients, const Log& log)
    : tls_(std::move(tls)),
      http_(fmt::format("{}/{}", kProduct, kVersion), clients.scratch(), tls_.get()),
      tracer_(tracing, {tracing.service_name, names.server_id, names.service_id, names.process_id}, http_, log),
      hooks_(http_, {names.server_id, names.service_id}, clients.stats(), log, &tracer_) {
    clients.table().add_watcher(tracer_);
}

}  // namespace live::app
