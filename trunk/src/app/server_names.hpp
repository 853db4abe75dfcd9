// Identifiers of this server and of this start of it, in the API and in responses to clients.
#pragma once

#include <cstdint>
#include <string>

namespace live::app {

struct ServerNames {
    std::string server_id;   // stable over restarts
    std::string service_id;  // new at each start
    std::int64_t process_id = 0;
};

}  // namespace live::app
