// /api/v1/recordings: the recordings of all streams; /recordings/files: those of one stream, which DELETE removes from the disk;
// /recordings/pin keeps some whatever the rules say; /recordings/disk: how long there is space. /api/v1/streams/ID/clip: POST
// keeps a span around now as a file of its own.
#pragma once

#include "api/common/server_info.hpp"
#include "service/clips/clip_service.hpp"
#include "service/recordings/recordings_service.hpp"
#include "service/stats/stream_stats.hpp"
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

class ClipHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/streams/{id}/clip";

    // All outlive this.
    ClipHandler(const ServerInfo& server, const service::stats::StreamStats& stats, service::clips::ClipService& clips)
        : server_(server), stats_(stats), clips_(clips) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::stats::StreamStats& stats_;
    service::clips::ClipService& clips_;
};

}  // namespace live::api
