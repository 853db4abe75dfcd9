// Shared by all GB28181 sessions. Owned by app; outlives them.
#pragma once

#include "base/bytes/bytes.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/gb28181/options.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session::gb28181 {

// Everything referred to outlives the sessions.
struct Context {
    media::StreamTable& streams;
    Admission& admission;
    StreamEvents& events;
    ClientTable& clients;
    ConnectionLimits& places;
    MutBytes scratch;  // shared by all fibers: touched only between two suspensions
    Options options{};
};

}  // namespace live::session::gb28181
