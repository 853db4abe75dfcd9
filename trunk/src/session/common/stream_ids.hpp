// The ids that the API has for streams and virtual hosts ("vid-1a2b3c4"), for whoever tells others about a stream (callbacks).
#pragma once

#include <string>

#include "session/common/admission.hpp"

namespace live::session {

class StreamIds {
public:
    virtual ~StreamIds() = default;
    // Of the stream that `request` is about, with `url` its source's and `vhost` its virtual host's name in the settings. An id
    // that is given out before a client enters the stream is kept for it. Must not suspend.
    virtual std::string stream_id(const ClientRequest& request, const std::string& url, const std::string& vhost) = 0;
    // "" when no stream is there.
    virtual std::string stream_id(const std::string& url) const = 0;
};

}  // namespace live::session
