// Virtual hosts for tests of policies; the test sets their options.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "service/admission/vhost_rules.hpp"
#include "session/common/admission.hpp"

namespace live::service::admission {

class FakeVhosts final : public VhostRulesTable {
public:
    struct Vhost {
        std::string name;
        bool enabled = true;
        bool guards_play = false;
        session::rtmp::RtmpOptions rtmp{};
        media::PlayOptions play{};
        media::PublishOptions publish{};
        access::SecurityOptions security{};
        access::ReferOptions refer{};
        tokens::TokenOptions access{};
        hooks::HookOptions http_hooks{};
        forward::ForwardOptions forward{};
        relay::ClusterOptions cluster{};
    };

    FakeVhosts() { add(std::string(wire::rtmp::kDefaultVhost)); }
    Vhost& add(std::string name) { return vhosts_.emplace_back(Vhost{.name = std::move(name)}); }
    Vhost& main() { return vhosts_.front(); }
    void clear() { vhosts_.clear(); }

    std::optional<VhostRules> find(const std::string& name) const override {
        for (const Vhost& vhost : vhosts_)
            if (vhost.name == name)
                return rules_of(vhost);
        return vhosts_.empty() ? std::nullopt : std::optional(rules_of(vhosts_.front()));
    }

private:
    static VhostRules rules_of(const Vhost& vhost) {
        return {.name = vhost.name,
                .enabled = vhost.enabled,
                .guards_play = vhost.guards_play,
                .rtmp = vhost.rtmp,
                .play = vhost.play,
                .publish = vhost.publish,
                .security = vhost.security,
                .refer = vhost.refer,
                .access = vhost.access,
                .http_hooks = vhost.http_hooks,
                .forward = vhost.forward,
                .cluster = vhost.cluster};
    }

    std::deque<Vhost> vhosts_;  // references to elements stay valid
};

inline session::ClientRequest client_of(session::ClientKind kind, std::string vhost = "any.example") {
    session::ClientRequest request;
    request.id = "c1";
    request.kind = kind;
    request.ip = request.peer_ip = "10.0.0.7";
    request.vhost = std::move(vhost);
    request.app = "live";
    request.stream = "cam";
    return request;
}

}  // namespace live::service::admission
