// Facts about the process for the API. app fills them in once; the counters are read again for each response.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
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

    // About the build: options as given and as resolved, time, and machine.
    std::string user_options;
    std::string options;
    std::string build_date;
    std::string build_machine;
    std::string license;
    std::string contributors;  // where they are listed
    // The server's features, by the family's short names.
    std::vector<std::pair<std::string, bool>> features;
};

// Since the start. app implements it over the counting objects.
class ServerCounters {
public:
    struct Totals {
        std::uint64_t received_bytes = 0;
        std::uint64_t sent_bytes = 0;
        std::size_t connections = 0;  // current
        LogCounters log{};
        std::uint64_t access_lines_lost = 0;
    };

    virtual ~ServerCounters() = default;
    // Must not suspend.
    virtual Totals totals() const = 0;
};

}  // namespace live::api
