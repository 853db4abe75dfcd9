// The endpoints about the server itself: the indexes, versions and summaries. They only read; what they show is handed in.
#pragma once

#include <string>
#include <utility>

#include "api/server_info.hpp"
#include "api/system_sampler.hpp"
#include "session/http/router.hpp"

namespace live::api {

// An answer that does not change while the process runs. Its own path is answered whatever the method; a path below it that
// nobody knows only for GET, for somebody who posts there wants something else.
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
    // What stands in the answer's "data", as JSON text.
    std::string data() const;

private:
    const ServerInfo& server_;
    const SystemSampler& sampler_;
};

// All of them. Owns the handlers, so it outlives the routers they are mounted on.
class ServerApi {
public:
    // Both outlive this.
    ServerApi(const ServerInfo& server, const SystemSampler& sampler);

    // "/", for a port that serves nothing else.
    void mount_root(session::http::Router& router);
    // "/api/", "/api/v1/" and what is below.
    void mount(session::http::Router& router);
    // Only what the streaming port shows too: versions.
    void mount_versions(session::http::Router& router);
    // The "data" of /api/v1/summaries, for others who report it.
    std::string summaries() const { return summaries_.data(); }

private:
    FixedHandler root_;
    FixedHandler api_;
    FixedHandler v1_;
    FixedHandler versions_;
    SummariesHandler summaries_;
};

}  // namespace live::api
