// Builds the ffmpeg arguments of one ingest. Pure, so that a test can check the command.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/text/variables.hpp"
#include "service/ffmpeg/arguments.hpp"
#include "service/ingest/options.hpp"

namespace live::service::ingest {

// The server's properties for the arguments of an ingest.
struct IngestPlace {
    std::string vhost;
    // The first RTMP listener's, for [port].
    std::uint16_t rtmp_port = 1935;
    // ffmpeg's -loglevel.
    std::string log_level = "info";
    // Folder for the children's output; "/dev/null" discards it.
    std::string log_dir = "./objs";
    Zone zone = Zone::local;
};

// Returns the values of the variables in an output.
Variables variables_of(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place);

// [vhost], [port], [engine], [id] and time variables are replaced in the output. The first word is the program's path as
// configured. Errc::malformed with a sentence for the operator when there is no input or no output.
Result<std::vector<std::string>> build_ingest_arguments(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                        const IngestPlace& place, std::chrono::system_clock::time_point now);

// "<log_dir>/ffmpeg-ingest-<vhost>-<app>-<stream>-<id>.log", or empty for /dev/null. App and stream are those of the output.
std::string ingest_log_path(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place);

}  // namespace live::service::ingest
