#include "service/ingest/rtsp_pull.hpp"

#include <utility>

namespace live::service::ingest {

std::optional<RtspPullTarget> rtsp_pull_target(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                               const IngestPlace& place) {
    auto from = wire::rtsp::parse_pull_url(ingest.input_url);
    auto to = copied_stream(ingest, engine, place);
    if (!from.ok() || !to)
        return std::nullopt;
    to->tc_url = "rtsp://" + to->vhost + "/" + to->app;
    return RtspPullTarget{*std::move(from), *std::move(to)};
}

}  // namespace live::service::ingest
