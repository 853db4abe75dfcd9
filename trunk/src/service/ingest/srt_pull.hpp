// The ingests of srt:// inputs that this server pulls itself, as the caller.
#pragma once

#include <optional>

#include "service/ingest/native_pull.hpp"
#include "session/srt/call/call_url.hpp"

namespace live::service::ingest {

struct SrtPullTarget {
    session::srt::CallUrl from;
    session::ClientRequest to;
};

// Returns nullopt if the ingest needs ffmpeg: as copied_stream(), and for an address that parse_call_url() rejects.
std::optional<SrtPullTarget> srt_pull_target(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                             const IngestPlace& place);

}  // namespace live::service::ingest
