// Where and how often this server reports that it is alive: plain values with their defaults.
#pragma once

#include <chrono>
#include <string>

#include "base/time.hpp"

namespace live::service::heartbeat {

struct AuthOptions {
    bool enabled = false;
    std::string type = "bearer";
    std::string token;
};

struct HeartbeatOptions {
    bool enabled = false;
    std::chrono::milliseconds interval = 10s;
    std::string url = "http://127.0.0.1:8085/api/v1/servers";
    std::string device_id;
    bool summaries = false;
    bool ports = false;
    AuthOptions auth;
};

}  // namespace live::service::heartbeat
