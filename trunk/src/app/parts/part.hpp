// Part: an owner of services that belong together, with the objects that only they need. The server owns every part and registers
// it once; afterwards it walks its list of services (service/service_list.hpp) and the ports walk their routes.
#pragma once

#include "service/service_list.hpp"

namespace live::app {

class HttpWiring;

class Part {
public:
    // Adds its services, each after those it depends on.
    virtual void add_services(service::ServiceList& services) = 0;
    // Adds its API calls and stream handlers, before the ports open.
    virtual void add_routes(HttpWiring& /*http*/) {}

protected:
    ~Part() = default;
};

}  // namespace live::app
