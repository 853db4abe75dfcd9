// Shared by all WebRTC sessions of the process. Owned by app; outlives the sessions.
#pragma once

#include "base/log/log.hpp"
#include "engine/dtls/transport.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtc/options.hpp"
#include "session/rtc/plain_video.hpp"
#include "session/rtc/transport/players.hpp"
#include "session/rtc/transport/port.hpp"

namespace live::session::rtc {

// The settings a session starts with.
class RtcVhosts {
public:
    virtual ~RtcVhosts() = default;
    // Returns the options of the virtual host that serves this name. Errc::not_found if it is unknown or has no WebRTC;
    // Errc::denied when it is disabled.
    virtual Result<RtcOptions> find(const std::string& vhost) const = 0;
    virtual RtcServerOptions server() const = 0;
    // Whether a bearer token is the client's own and may be passed to callbacks: not where the server itself requires one.
    virtual bool shows_bearer() const = 0;
};

struct Context {
    media::StreamTable& streams;
    const RtcVhosts& vhosts;
    Admission& admission;
    StreamEvents& events;
    ClientTable& clients;
    ConnectionLimits& places;
    Port& port;
    Players& players;
    const Log& log;
    PlainVideo* plain_video = nullptr;  // nullptr: B-frames are left out
};

}  // namespace live::session::rtc
