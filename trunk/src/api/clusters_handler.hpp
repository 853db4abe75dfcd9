// /api/v1/clusters: what this node, as an edge, knows of its origins, and what it pulls from them. Asked about one stream, as
// edges and players of the family's old origin clusters do, it says where that stream is to be had.
#pragma once

#include "api/server_info.hpp"
#include "service/relay/relay_service.hpp"
#include "session/http/router.hpp"

namespace live::api {

// A pull for the API: of /api/v1/clusters and of a stream.
template <class Json>
Json pull_json(const service::relay::PullFacts& pull, TimePoint now) {
    using std::chrono::milliseconds;
    return {{"url", pull.origin},
            {"state", service::relay::PullFacts::name_of(pull.state)},
            {"since_ms", (now - pull.since) / milliseconds(1)},
            {"tries", pull.tries},
            {"last_error", pull.last_error},
            {"rtt_ms", std::chrono::duration<double, std::milli>(pull.rtt).count()}};
}

class ClustersHandler final : public session::http::Handler {
public:
    static constexpr std::string_view kPath = "/api/v1/clusters";

    ClustersHandler(const ServerInfo& server, const service::relay::RelayService& relay) : server_(server), relay_(relay) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::relay::RelayService& relay_;
};

}  // namespace live::api
