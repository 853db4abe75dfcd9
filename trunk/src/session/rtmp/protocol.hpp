// RTMP, as the rest of the server sees it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "session/common/protocol.hpp"

namespace live::session::rtmp {

// The endpoints of the settings, as written.
struct Listening {
    std::vector<std::string> plain{};
    std::vector<std::string> secure{};
};

void add_urls(const Listening& listening, const UrlRequest& request, StreamUrls& urls);

// `traffic` must outlive the description.
Protocol describe(const Traffic& traffic, std::function<Listening()> listening);

}  // namespace live::session::rtmp
