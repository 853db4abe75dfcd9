// The blocks of a virtual host whose services do not exist yet or live in this room: plain values with their defaults. A block
// moves to the room of its service when that service is written.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "media/ring/options.hpp"

namespace live::settings {

struct HdsOptions {
    bool enabled = false;
    std::chrono::milliseconds fragment = 10s;
    std::chrono::milliseconds window = 60s;
    std::string path = "./objs/nginx/html";
};

struct HttpStaticOptions {
    bool enabled = false;
    std::string mount = "[vhost]/";
    std::string dir = "./objs/nginx/html";
};

}  // namespace live::settings
