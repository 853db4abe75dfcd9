// What the settings' endpoints mean for who listens: which ones, and what is to be done when one of them is not there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/endpoint.hpp"
#include "base/log.hpp"
#include "io/tcp_listener.hpp"

namespace live::app {

struct WantedEndpoint {
    Endpoint endpoint;
    // Of a bare port's two addresses, the one of IPv6: the machine may have none.
    bool may_be_missing = false;
};

// Each text as parse_endpoint.
Result<std::vector<WantedEndpoint>> wanted_endpoints(const std::vector<std::string>& texts);

// nullptr, and a warning, for one that is missing and may be. Errors as TcpListener::listen, with `label`: a service's name.
Result<std::unique_ptr<io::TcpListener>> listen_at(const WantedEndpoint& wanted, const std::string& label, const Log& log);

}  // namespace live::app
