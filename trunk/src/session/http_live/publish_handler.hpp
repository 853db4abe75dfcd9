// PublishHandler: takes streams that publishers POST to a stream caster as one endless FLV file, and publishes each under the
// RTMP URL that the caster's output builds from its path.
#pragma once

#include <string>
#include <utility>

#include "session/http/handler.hpp"
#include "session/http_live/context.hpp"

namespace live::session::http_live {

class PublishHandler final : public http::Handler {
public:
    // `output` as "rtmp://127.0.0.1/[app]/[stream]".
    PublishHandler(Context& context, std::string output) : context_(context), output_(std::move(output)) {}

    http::BodyMode body_mode(const http::Request&) const override { return http::BodyMode::streamed; }
    Result<void> serve(http::Exchange& exchange, io::Deadline deadline) override;

private:
    Result<ClientRequest> publisher_of(const http::Request& request) const;

    Context& context_;
    std::string output_;
};

}  // namespace live::session::http_live
