// A stream's codecs in responses: objects as the family has them, or null.
#pragma once

#include <optional>

#include "api/common/rows.hpp"
#include "service/stats/stream_stats.hpp"

namespace live::api {

inline std::optional<Row> video_row(const service::stats::StreamRow& stream) {
    const auto facts = stream.video();
    if (!facts)
        return std::nullopt;
    return Row{{"codec", facts->codec},
               {"profile", facts->profile},
               {"level", facts->level},
               {"width", facts->width},
               {"height", facts->height}};
}

inline std::optional<Row> audio_row(const service::stats::StreamRow& stream) {
    const auto facts = stream.audio();
    if (!facts)
        return std::nullopt;
    Row row = {
        {"codec", facts->codec}, {"sample_rate", facts->sample_rate}, {"channel", facts->channels}, {"profile", facts->profile}};
    if (!facts->problem.empty())
        row.add("problem", facts->problem);
    return row;
}

}  // namespace live::api
