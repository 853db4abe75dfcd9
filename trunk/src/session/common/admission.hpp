// Admission: may this client publish or play this stream, and with which settings? The one question asked before a session
// begins. The answer comes from higher up (settings, later security rules and callbacks); sessions only know this interface.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "media/options.hpp"
#include "session/common/client_kind.hpp"
#include "session/rtmp/options.hpp"

namespace live::session {

// Who asks for what. All texts come from the client; vhost, app and stream have passed the allow-list of names.
struct ClientRequest {
    std::string id;  // of the session, as in the log
    ClientKind kind = ClientKind::unknown;
    std::string ip;
    std::string vhost;
    std::string app;
    std::string stream;
    std::string param;  // the query, with its '?'
    std::string tc_url;
    std::string page_url;
};

// What an admitted client works with.
struct StreamPlan {
    std::string url;  // of the source
    rtmp::RtmpOptions rtmp;
    media::PlayOptions play;
    media::PublishOptions publish;
};

class Admission {
public:
    virtual ~Admission() = default;
    // The settings of the virtual host that serves `vhost`. Errc::not_found when there is none or it is switched off.
    virtual Result<rtmp::RtmpOptions> connect(const ClientRequest& request, io::Deadline deadline) = 0;
    virtual Result<StreamPlan> publish(const ClientRequest& request, io::Deadline deadline) = 0;
    virtual Result<StreamPlan> play(const ClientRequest& request, io::Deadline deadline) = 0;
};

// Told what becomes of the streams, after the fact: forwarding starts and stops by it. Must not suspend.
class StreamEvents {
public:
    virtual ~StreamEvents() = default;
    virtual void on_published(const ClientRequest& request, const StreamPlan& plan) = 0;
    virtual void on_unpublished(const std::string& url) = 0;
};

}  // namespace live::session
