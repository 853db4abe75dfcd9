// Shared by all SRT sessions of the process. Owned by app; outlives the sessions.
#pragma once

#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/fan_out/transport_log.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/srt/options.hpp"
#include "session/srt/port/players.hpp"
#include "session/srt/port/port.hpp"

namespace live::session::srt {

// The settings a session starts with.
class SrtVhosts {
public:
    virtual ~SrtVhosts() = default;
    // Returns the options of the virtual host that serves this name. Errc::not_found if unknown, Errc::denied if it is
    // disabled or has no SRT.
    virtual Result<SrtOptions> find(const std::string& vhost) const = 0;
    // The name of the virtual host that find() returns: aliases of one virtual host share it.
    virtual std::string serving_name(const std::string& vhost) const = 0;
    virtual const SrtServerOptions& server() const = 0;
    // They follow a reload.
    virtual const SrtLimitOptions& limits() const = 0;
};

struct Context {
    media::StreamTable& streams;
    const SrtVhosts& vhosts;
    Admission& admission;
    StreamEvents& events;
    ClientTable& clients;
    ConnectionLimits& places;
    Port& port;
    Players& players;
    TransportLogs& transports;
    const Log& log;
};

}  // namespace live::session::srt
