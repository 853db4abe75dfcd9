// What this process and this start of it are called, in the API and in answers to clients.
#pragma once

#include <cstdint>
#include <string>

namespace live::app {

struct ServerNames {
    std::string server_id;   // stable over restarts
    std::string service_id;  // of this start
    std::int64_t process_id = 0;
};

}  // namespace live::app
