// Identifiers of this server and of this start of it, in the API and in responses to clients.
#pragma once

#include <cstdint>
#include <string>

#include "service/workers/master_line.hpp"

namespace live::app {

class Upgrade;

struct ServerNames {
    std::string server_id;   // stable over restarts
    std::string service_id;  // new at each start
    std::int64_t process_id = 0;
    // nullptr: the process is alone. Owned by Process; outlives the server.
    service::workers::MasterLine* master = nullptr;
    std::string workers_secret{};  // the same for all workers, and after an upgrade
    // Outlives the server.
    Upgrade* upgrade = nullptr;
    // It has taken over from another process.
    bool is_heir = false;

    engine::workers::Tally* tally() const { return master == nullptr ? nullptr : master->tally(); }
    service::workers::Seat seat() const { return master == nullptr ? service::workers::Seat{} : master->seat(); }
};

}  // namespace live::app
