// The endpoints about the build and the request itself: authors, features, requests, the test endpoints.
#pragma once

#include "api/common/endpoints.hpp"
#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// Shows the request as received, without its credentials.
class RequestsHandler final : public session::http::Handler {
public:
    explicit RequestsHandler(const ServerInfo& server) : server_(server) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
};

// Always an error, for clients that test their error handling.
class ErrorsHandler final : public session::http::Handler {
public:
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
};

class RedirectsHandler final : public session::http::Handler {
public:
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
};

void add_info(Endpoints& endpoints);

}  // namespace live::api
