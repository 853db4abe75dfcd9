// Turns endpoint texts from the settings into listeners, including the handling of an unavailable one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/net/endpoint.hpp"
#include "io/net/tcp_listener.hpp"
#include "settings/conf/tree.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::app {

struct WantedEndpoint {
    Endpoint endpoint;
    // The IPv6 address of a bare port: the machine may have no IPv6.
    bool may_be_missing = false;
    // Other workers listen there too.
    io::PortSharing sharing = io::PortSharing::alone;
};

// Each text is parsed as by parse_endpoint.
Result<std::vector<WantedEndpoint>> wanted_endpoints(const std::vector<std::string>& texts,
                                                     io::PortSharing sharing = io::PortSharing::alone);
// Workers share their ports.
inline io::PortSharing sharing_of(const engine::workers::WorkerIdentity& identity) {
    return identity.is_worker() ? io::PortSharing::shared : io::PortSharing::alone;
}

// nullptr, and a warning, for an unavailable one that may be missing. Errors as TcpListener::listen; `label` is the service's
// name.
Result<std::unique_ptr<io::TcpListener>> listen_at(const WantedEndpoint& wanted, const std::string& label, const Log& log);

// The listeners of acme { listen; }, without those at which http_server listens: its ports answer too. Errors as listen_at().
Result<std::vector<std::unique_ptr<io::TcpListener>>> acme_listeners(const settings::Settings& settings, const Log& log);

}  // namespace live::app
