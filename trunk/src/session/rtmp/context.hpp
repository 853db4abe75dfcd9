// Shared by all RTMP connections of the process. Owned by app; outlives the connections.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/rtmp/publisher_auth.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/common/credentials.hpp"
#include "session/common/traffic.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/rtmp/options.hpp"

namespace live::session::rtmp {

// The current settings.
class VhostOptions {
public:
    virtual ~VhostOptions() = default;
    // Returns the options of the virtual host that serves `vhost`. Errc::not_found if unknown, Errc::denied if it is
    // disabled.
    virtual Result<RtmpOptions> options_of(const std::string& vhost) const = 0;
};

struct Context {
    media::StreamTable& streams;
    Admission& admission;
    const VhostOptions& vhosts;
    StreamEvents& events;
    FanOut& fan_out;
    ClientTable& clients;
    Traffic& traffic;
    // Read buffer of all connections; at least 64 KiB.
    MutBytes scratch;
    // Sent in the response to connect.
    std::string version;
    std::string signature;
    std::int64_t process_id = 0;
    // For RtmpOptions::challenge; nullptr: there are no users.
    PasswordSource* passwords = nullptr;
    engine::rtmp::PublisherAuth challenges{{}};
};

}  // namespace live::session::rtmp
