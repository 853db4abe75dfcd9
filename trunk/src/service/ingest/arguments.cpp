#include "service/ingest/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "wire/rtmp/stream_url.hpp"

namespace live::service::ingest {

Variables variables_of(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place) {
    return {{"vhost", place.vhost}, {"port", std::to_string(place.rtmp_port)}, {"engine", engine.name}, {"id", ingest.id}};
}

Result<std::vector<std::string>> build_ingest_arguments(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                        const IngestPlace& place, std::chrono::system_clock::time_point now) {
    if (ingest.input_url.empty())
        return Error(Errc::malformed, fmt::format("ingest {} of {} has no input url", ingest.id, place.vhost));
    if (engine.output.empty())
        return Error(Errc::malformed, fmt::format("ingest {} of {} has an engine without an output", ingest.id, place.vhost));
    Variables variables = variables_of(ingest, engine, place);
    const Variables times = time_variables(now, place.zone);
    variables.insert(variables.end(), times.begin(), times.end());

    std::vector<std::string> arguments = {ingest.ffmpeg.empty() ? std::string(ffmpeg::kConventionalProgram) : ingest.ffmpeg};
    if (!place.log_level.empty()) {
        arguments.emplace_back("-loglevel");
        arguments.push_back(place.log_level);
    }
    // The running frame count would grow the log without end.
    arguments.emplace_back("-nostats");
    const bool says_re =
        std::any_of(engine.perfile.begin(), engine.perfile.end(), [](const auto& entry) { return entry.first == "re"; });
    if (ingest.input_type == InputType::file && !(engine.enabled && says_re))
        arguments.emplace_back("-re");
    if (engine.enabled)
        ffmpeg::append_options(arguments, engine.perfile);
    arguments.emplace_back("-i");
    arguments.push_back(ingest.input_url);
    ffmpeg::append_engine(arguments, engine);
    arguments.emplace_back("-y");
    arguments.push_back(replace_variables(engine.output, variables));
    return arguments;
}

std::string ingest_log_path(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place) {
    const std::string output = replace_variables(engine.output, variables_of(ingest, engine, place));
    const auto url = wire::rtmp::parse_stream_url(output);
    const std::string app = url.ok() ? url->app : "";
    const std::string stream = url.ok() ? url->stream : "";
    return ffmpeg::child_log_path(place.log_dir, {"ingest", place.vhost, app, stream, ingest.id});
}

}  // namespace live::service::ingest
