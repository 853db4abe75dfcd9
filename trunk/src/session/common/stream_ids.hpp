// The API's ids of streams and virtual hosts ("vid-1a2b3c4"), for reports about a stream elsewhere (callbacks).
#pragma once

#include <string>

#include "session/common/admission.hpp"

namespace live::session {

class StreamIds {
public:
    virtual ~StreamIds() = default;
    // Returns the id of the stream of `request`; `url` is its source's, `vhost` its virtual host's name in the settings. An id
    // that is returned before a client enters the stream is kept for it. Must not suspend.
    virtual std::string stream_id(const ClientRequest& request, const std::string& url, const std::string& vhost) = 0;
    // "" when the stream does not exist.
    virtual std::string stream_id(const std::string& url) const = 0;
};

}  // namespace live::session
