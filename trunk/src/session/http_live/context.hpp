// Shared by all HTTP live streams of the process. Owned by app; outlives the sessions.
#pragma once

#include <optional>

#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/http/handler.hpp"
#include "session/http_live/mount.hpp"
#include "session/http_live/options.hpp"

namespace live::session::http_live {

// The stream and the mount of a URL.
struct MountedUrl {
    std::string vhost;  // as requested
    MountedStream stream;
    Mount mount;
    RemuxOptions options;
};

// The mounts of all virtual hosts, from the settings.
class Mounts {
public:
    virtual ~Mounts() = default;
    // Returns nullopt if no virtual host has HTTP live streams at this URL. Must not suspend.
    virtual std::optional<MountedUrl> find(const http::Request& request) const = 0;
};

struct Context {
    media::StreamTable& streams;
    const Mounts& mounts;
    Admission& admission;
    StreamEvents& events;
    FanOut& fan_out;
    ClientTable& clients;
};

}  // namespace live::session::http_live
