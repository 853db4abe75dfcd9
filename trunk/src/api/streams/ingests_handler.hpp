// /api/v1/ingests: where streams are pulled from, and how that goes.
#pragma once

#include "api/common/rows.hpp"
#include "api/common/server_info.hpp"
#include "service/ingest/ingest_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// One worker's row. Rows of the same ingest are combined.
engine::workers::Row ingest_row(const service::ingest::IngestFacts& ingest, TimePoint now);

class IngestsHandler final : public session::http::Handler {
public:
    // Both outlive this.
    IngestsHandler(const ServerInfo& server, const service::ingest::IngestService& ingests)
        : server_(server), ingests_(ingests) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::ingest::IngestService& ingests_;
};

}  // namespace live::api
