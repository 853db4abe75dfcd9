// What every WebRTC session of the process works with. main owns all of it and outlives the sessions.
#pragma once

#include "base/log.hpp"
#include "engine/dtls/transport.hpp"
#include "media/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/common/places.hpp"
#include "session/rtc/options.hpp"
#include "session/rtc/players.hpp"
#include "session/rtc/port.hpp"

namespace live::session::rtc {

// The settings that a session begins with.
class RtcVhosts {
public:
    virtual ~RtcVhosts() = default;
    // Of the virtual host that serves this name. Errc::not_found when there is none, or it has no WebRTC; Errc::denied when it is
    // switched off.
    virtual Result<RtcOptions> find(const std::string& vhost) const = 0;
    virtual RtcServerOptions server() const = 0;
    // Whether a bearer token is the client's own, to be shown to callbacks: not where the server itself asks for one.
    virtual bool shows_bearer() const = 0;
};

struct Context {
    media::StreamTable& streams;
    const RtcVhosts& vhosts;
    Admission& admission;
    StreamEvents& events;
    ClientTable& clients;
    Places& places;
    Port& port;
    Players& players;
    const Log& log;
};

}  // namespace live::session::rtc
