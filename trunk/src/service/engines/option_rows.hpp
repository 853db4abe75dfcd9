// The rows of service/engines/options.hpp.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "service/engines/options.hpp"
#include "service/ffmpeg/option_rows.hpp"

namespace live::service::engines {

inline constexpr std::array kFeedNames = {
    config::Named<Feed>{"pipe", Feed::pipe},
    config::Named<Feed>{"socket", Feed::socket},
};

inline constexpr auto kTranscodeRows = config::Rows{
    config::row(&TranscodeOptions::enabled, "enabled", config::Reload::live, "Runs ffmpeg on published streams."),
    config::row(&TranscodeOptions::ffmpeg, "ffmpeg", config::Reload::live,
                "Path of the ffmpeg program. Without it, nothing runs.")
        .example("./objs/ffmpeg/bin/ffmpeg"),
    config::row(&TranscodeOptions::feed, "feed", kFeedNames, config::Reload::live,
                "Ours: pipe: ffmpeg reads the stream from a pipe, and one returns an output that is an RTMP URL of this server. "
                "socket: ffmpeg plays and publishes by RTMP, like any client."),
    config::row(&TranscodeOptions::on_demand, "on_demand", config::Reload::live,
                "Ours: an engine whose output is a stream of this server runs while that stream has players, and 10 s longer."),
    config::row(
        &TranscodeOptions::share_process, "share_process", config::Reload::live,
        "Ours: engines with the same perfile and iformat whose outputs are streams of this server run in one ffmpeg, which "
        "decodes the stream once. One that fails gets its own ffmpeg, so that it does not interrupt the others again."),
    config::blocks(&TranscodeOptions::engines, "engine", &ffmpeg::EngineOptions::name, "name", ffmpeg::kEngineRows,
                   "An encoding and its destination; each is one ffmpeg process, unless share_process is on."),
};

}  // namespace live::service::engines
