// The ingests of rtsp:// and rtsps:// inputs, cameras above all, that this server pulls itself.
#pragma once

#include <optional>

#include "service/ingest/native_pull.hpp"
#include "session/rtsp/pull/pull_options.hpp"
#include "wire/rtsp/pull_url.hpp"

namespace live::service::ingest {

struct RtspPullTarget {
    wire::rtsp::PullUrl from;
    session::rtsp::PullOptions options;  // without TLS
    session::ClientRequest to;
};

// Returns nullopt if the ingest needs ffmpeg: as copied_stream(), and for an address that parse_pull_url() rejects.
std::optional<RtspPullTarget> rtsp_pull_target(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                               const IngestPlace& place);

}  // namespace live::service::ingest
