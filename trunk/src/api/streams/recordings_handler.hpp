// /api/v1/recordings: the recordings of all streams; /recordings/files: those of one stream, which DELETE removes from the disk;
// /recordings/pin keeps some whatever the rules say; /recordings/disk: how long there is space.
#pragma once

#include "api/common/server_info.hpp"
#include "service/recordings/recordings_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class RecordingsHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/recordings";

    // Both outlive this, as in the other handlers.
    RecordingsHandler(const ServerInfo& server, const service::recordings::RecordingsService& library)
        : server_(server), library_(library) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::recordings::RecordingsService& library_;
};

class RecordingFilesHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/recordings/files";

    RecordingFilesHandler(const ServerInfo& server, service::recordings::RecordingsService& library)
        : server_(server), library_(library) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    session::http::Reply list(const session::http::Request& request) const;

    const ServerInfo& server_;
    service::recordings::RecordingsService& library_;
};

class RecordingPinHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/recordings/pin";

    RecordingPinHandler(const ServerInfo& server, service::recordings::RecordingsService& library)
        : server_(server), library_(library) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    service::recordings::RecordingsService& library_;
};

class RecordingDiskHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/recordings/disk";

    RecordingDiskHandler(const ServerInfo& server, const service::recordings::RecordingsService& library)
        : server_(server), library_(library) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::recordings::RecordingsService& library_;
};

}  // namespace live::api
