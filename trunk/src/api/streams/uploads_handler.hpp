// /api/v1/uploads: the recordings that are on their way to the object storage or wait for it; /uploads/state: how much waits, and
// why nothing is sent.
#pragma once

#include "api/common/server_info.hpp"
#include "service/upload/upload_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class UploadsHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/uploads";

    // Both outlive this, as in the other handler.
    UploadsHandler(const ServerInfo& server, const service::upload::UploadService& uploads)
        : server_(server), uploads_(uploads) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::upload::UploadService& uploads_;
};

class UploadStateHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/uploads/state";

    UploadStateHandler(const ServerInfo& server, const service::upload::UploadService& uploads)
        : server_(server), uploads_(uploads) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::upload::UploadService& uploads_;
};

}  // namespace live::api
