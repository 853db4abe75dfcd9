// VhostRules: the options of one virtual host that admission reads. app implements VhostRulesTable from the settings in force.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "media/ring/options.hpp"
#include "service/access/options.hpp"
#include "service/forward/options.hpp"
#include "service/hooks/options.hpp"
#include "service/relay/options.hpp"
#include "service/tokens/options.hpp"
#include "session/rtmp/options.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::admission {

// References into the settings: valid until the next suspension.
struct VhostRules {
    const std::string& name;
    bool enabled;
    // Some clients may not play its streams.
    bool guards_play;
    const session::rtmp::RtmpOptions& rtmp;
    const media::PlayOptions& play;
    const media::PublishOptions& publish;
    const access::SecurityOptions& security;
    const access::ReferOptions& refer;
    const tokens::TokenOptions& access;
    const hooks::HookOptions& http_hooks;
    const forward::ForwardOptions& forward;
    const relay::ClusterOptions& cluster;
};

class VhostRulesTable {
public:
    // The virtual host that serves the client-supplied name, also a disabled one; nullopt if unknown. Must not suspend.
    virtual std::optional<VhostRules> find(const std::string& name) const = 0;

protected:
    ~VhostRulesTable() = default;
};

// A source's URL: "/app/stream" in the default virtual host, "vhost/app/stream" in another.
inline std::string stream_url(std::string_view vhost, std::string_view app, std::string_view stream) {
    std::string url(vhost == wire::rtmp::kDefaultVhost ? std::string_view() : vhost);
    return url.append("/").append(app).append("/").append(stream);
}

}  // namespace live::service::admission
