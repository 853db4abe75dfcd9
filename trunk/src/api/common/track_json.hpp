// A stream's codecs in responses: objects as the family has them, or null. Templates, so that this header does not need the JSON
// library.
#pragma once

#include "service/stats/stream_stats.hpp"

namespace live::api {

template <class Json>
Json video_json(const service::stats::StreamRow& stream) {
    const auto facts = stream.video();
    if (!facts)
        return nullptr;
    return {{"codec", facts->codec},
            {"profile", facts->profile},
            {"level", facts->level},
            {"width", facts->width},
            {"height", facts->height}};
}

template <class Json>
Json audio_json(const service::stats::StreamRow& stream) {
    const auto facts = stream.audio();
    if (!facts)
        return nullptr;
    Json json = {
        {"codec", facts->codec}, {"sample_rate", facts->sample_rate}, {"channel", facts->channels}, {"profile", facts->profile}};
    if (!facts->problem.empty())
        json["problem"] = facts->problem;
    return json;
}

}  // namespace live::api
