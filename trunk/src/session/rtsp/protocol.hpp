// The description of RTSP for the rest of the server.
#pragma once

#include <string>
#include <vector>

#include "session/common/protocol.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/self_tester.hpp"

namespace live::session::rtsp {

// The endpoints of RTSP and of RTSPS; none: it does not listen.
struct Listening {
    std::vector<std::string> plain;
    std::vector<std::string> secure;

    bool any() const { return !plain.empty() || !secure.empty(); }
};

void add_urls(const Listening& listening, const RtspVhosts& vhosts, const UrlRequest& request, StreamUrls& urls);

// Everything referred to outlives the description.
Protocol describe(const Context& context, SelfTester& self_test, Listening listening);

}  // namespace live::session::rtsp
