// ProxyRules: the peers that precede a connection by a PROXY header (wire/proxy).
#pragma once

#include <string_view>

namespace live::session {

class ProxyRules {
public:
    virtual bool sends_proxy_header(std::string_view ip) const = 0;

protected:
    ~ProxyRules() = default;
};

}  // namespace live::session
