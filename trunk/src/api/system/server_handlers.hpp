// The endpoints about the server itself: versions and summaries. They only read the objects passed to them.
#pragma once

#include <string>
#include <utility>

#include "api/common/endpoints.hpp"
#include "api/common/server_info.hpp"
#include "api/system/system_sampler.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// A response that does not change while the process runs.
class FixedHandler final : public session::http::Handler {
public:
    explicit FixedHandler(std::string json) : json_(std::move(json)) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    std::string json_;
};

// The "data" of /api/v1/summaries, as JSON text.
std::string summaries(const ServerInfo& server, const SystemSampler& sampler);

// Adds versions and summaries. `sampler` outlives the endpoints.
void add_server(Endpoints& endpoints, const SystemSampler& sampler);

}  // namespace live::api
