// The endpoints about the server itself: the indexes, versions and summaries. They only read the objects passed to them.
#pragma once

#include <string>
#include <utility>

#include "api/common/server_info.hpp"
#include "api/system/system_sampler.hpp"
#include "session/http/router.hpp"

namespace live::api {

// A response that does not change while the process runs. Its own path accepts any method; an unknown path below it only GET,
// because a client that posts there wants something else.
class FixedHandler final : public session::http::Handler {
public:
    FixedHandler(std::string path, std::string json) : path_(std::move(path)), json_(std::move(json)) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    std::string path_;
    std::string json_;
};

class SummariesHandler final : public session::http::Handler {
public:
    SummariesHandler(const ServerInfo& server, const SystemSampler& sampler) : server_(server), sampler_(sampler) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
    // The response's "data", as JSON text.
    std::string data() const;

private:
    const ServerInfo& server_;
    const SystemSampler& sampler_;
};

// All endpoints about the server. Owns the handlers, so it outlives the routers they are mounted on.
class ServerApi {
public:
    // Both outlive this.
    ServerApi(const ServerInfo& server, const SystemSampler& sampler);

    // "/", for a port without other content.
    void mount_root(session::http::Router& router);
    // "/api/", "/api/v1/" and everything below.
    void mount(session::http::Router& router);
    // Only the endpoint that the streaming port has too: versions.
    void mount_versions(session::http::Router& router);
    // The "data" of /api/v1/summaries, for other reporters.
    std::string summaries() const { return summaries_.data(); }

private:
    FixedHandler root_;
    FixedHandler api_;
    FixedHandler v1_;
    FixedHandler versions_;
    SummariesHandler summaries_;
};

}  // namespace live::api
