#include "service/ingest/srt_pull.hpp"

#include <utility>

namespace live::service::ingest {

std::optional<SrtPullTarget> srt_pull_target(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                             const IngestPlace& place) {
    auto from = session::srt::parse_call_url(ingest.input_url);
    auto to = copied_stream(ingest, engine, place);
    if (!from.ok() || !to)
        return std::nullopt;
    to->tc_url = "srt://" + to->vhost + "/" + to->app;
    return SrtPullTarget{*std::move(from), *std::move(to)};
}

}  // namespace live::service::ingest
