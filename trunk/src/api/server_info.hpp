// What the API tells about the process itself. main fills it in once; the counters it asks for again each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/time.hpp"

namespace live::api {

struct ServerInfo {
    std::string server_id;   // stable over restarts
    std::string service_id;  // of this start
    std::int64_t process_id = 0;
    std::int64_t parent_id = 0;
    std::string command_line;
    std::string working_folder;
    TimePoint started{};

    // Of the build: options as given and as resolved, when, and on which machine.
    std::string user_options;
    std::string options;
    std::string build_date;
    std::string build_machine;
    std::string license;
    std::string contributors;  // where to read who they are
    // What this server can do, in the family's short names.
    std::vector<std::pair<std::string, bool>> features;
};

// Since the start. main implements it over whatever counts.
class ServerCounters {
public:
    struct Totals {
        std::uint64_t received_bytes = 0;
        std::uint64_t sent_bytes = 0;
        std::size_t connections = 0;  // now
        LogCounters log{};
        std::uint64_t access_lines_lost = 0;
    };

    virtual ~ServerCounters() = default;
    // Must not suspend.
    virtual Totals totals() const = 0;
};

}  // namespace live::api
