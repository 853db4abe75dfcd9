// A stream's codecs in responses: objects as the family has them, or null; and the list of all tracks.
#pragma once

#include <optional>

#include "api/common/rows.hpp"
#include "service/stats/stream_stats.hpp"

namespace live::api {

inline Row row_of(const service::stats::VideoFacts& facts) {
    return {{"codec", facts.codec},
            {"profile", facts.profile},
            {"level", facts.level},
            {"width", facts.width},
            {"height", facts.height}};
}

inline Row row_of(const service::stats::AudioFacts& facts) {
    Row row = {
        {"codec", facts.codec}, {"sample_rate", facts.sample_rate}, {"channel", facts.channels}, {"profile", facts.profile}};
    if (!facts.problem.empty())
        row.add("problem", facts.problem);
    return row;
}

inline std::optional<Row> video_row(const service::stats::StreamRow& stream) {
    const auto facts = stream.video();
    return facts ? std::optional(row_of(*facts)) : std::nullopt;
}

inline std::optional<Row> audio_row(const service::stats::StreamRow& stream) {
    const auto facts = stream.audio();
    return facts ? std::optional(row_of(*facts)) : std::nullopt;
}

inline Rows track_rows(const service::stats::StreamRow& stream) {
    Rows rows;
    for (const service::stats::TrackFacts& track : stream.tracks()) {
        Row row = {{"kind", std::string(name_of(track.kind))},
                   {"id", track.id},
                   {"default", track.is_default},
                   {"rendition", track.is_rendition},
                   {"language", track.language},
                   {"name", track.name}};
        if (!track.captions.empty())
            row.add("captions", track.captions);
        if (track.video)
            row.add("video", row_of(*track.video));
        if (track.audio)
            row.add("audio", row_of(*track.audio));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace live::api
