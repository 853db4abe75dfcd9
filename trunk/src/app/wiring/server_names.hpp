// Identifiers of this server and of this start of it, in the API and in responses to clients.
#pragma once

#include <cstdint>
#include <string>

#include "api/system/upgrade_handler.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/line/upgrade_listener.hpp"

namespace live::app {

struct ServerNames {
    std::string server_id;   // stable over restarts
    std::string service_id;  // new at each start
    std::int64_t process_id = 0;
    // nullptr: the process is alone. Owned by Process; outlives the server.
    supervisor::MasterLine* master = nullptr;
    std::string workers_secret{};  // the same for all workers, and after an upgrade
    // Both are the same upgrade and outlive the server.
    api::UpgradeControl* upgrade = nullptr;
    supervisor::UpgradeListener* upgrade_listener = nullptr;
    // This process has taken over from another one.
    bool takes_over = false;

    engine::workers::SharedLimits* shared_limits() const { return master == nullptr ? nullptr : master->shared_limits(); }
    engine::workers::WorkerIdentity identity() const {
        return master == nullptr ? engine::workers::WorkerIdentity{} : master->identity();
    }
};

}  // namespace live::app
