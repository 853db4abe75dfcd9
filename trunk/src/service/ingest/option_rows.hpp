// The rows of service/ingest/options.hpp.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "service/ffmpeg/option_rows.hpp"
#include "service/ingest/options.hpp"

namespace live::service::ingest {

inline constexpr std::array kInputTypeNames = {
    config::Named<InputType>{"file", InputType::file},
    config::Named<InputType>{"stream", InputType::stream},
};

inline constexpr auto kInputRows = config::Rows{
    config::row(&IngestOptions::input_type, "type", kInputTypeNames, config::Reload::live,
                "file is read at its own pace and starts again at its end; stream is a live URL."),
    config::row(
        &IngestOptions::input_url, "url", config::Reload::live,
        "The file's path or the stream's URL. This server itself pulls srt:// that is copied to it; see doc/manual/srt.md.")
        .example("./doc/source.flv"),
};

inline constexpr auto kIngestRows = config::Rows{
    config::row(&IngestOptions::enabled, "enabled", config::Reload::live, "Runs ffmpeg to pull this input in."),
    config::scope<IngestOptions>("input", kInputRows, "The input."),
    config::row(&IngestOptions::ffmpeg, "ffmpeg", config::Reload::live, "Path of the ffmpeg program.")
        .example("./objs/ffmpeg/bin/ffmpeg"),
    config::blocks(&IngestOptions::engines, "engine", &ffmpeg::EngineOptions::name, "name", ffmpeg::kEngineRows,
                   "How it is encoded and where it is published; without a codec it is copied."),
};

}  // namespace live::service::ingest
