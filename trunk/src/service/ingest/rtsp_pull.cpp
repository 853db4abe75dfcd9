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
    session::rtsp::PullOptions options;
    options.transport = ingest.transport;
    options.any_port = ingest.any_port;
    options.all_tracks = ingest.all_tracks;
    options.port_min = ingest.rtp_port_min;
    options.port_max = ingest.rtp_port_max;
    return RtspPullTarget{*std::move(from), options, *std::move(to)};
}

}  // namespace live::service::ingest
