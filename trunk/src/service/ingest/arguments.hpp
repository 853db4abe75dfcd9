// One ingest as the words of an ffmpeg call. Pure, so that what would be run can be read in a test.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "service/ffmpeg/arguments.hpp"
#include "service/ingest/options.hpp"

namespace live::service::ingest {

// What an ingest needs to know of the server around it.
struct IngestPlace {
    std::string vhost;
    // The first RTMP listener's, for [port].
    std::uint16_t rtmp_port = 1935;
    // ffmpeg's -loglevel.
    std::string log_level = "info";
    // Where the children's output goes; "/dev/null" throws it away.
    std::string log_dir = "./objs";
    Zone zone = Zone::local;
};

// [vhost], [port], [engine], [id] and the time stand for themselves in the output. The first word is the program's path as
// configured. Errc::malformed with a sentence for the operator when there is no input or no output.
Result<std::vector<std::string>> build_ingest_arguments(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                        const IngestPlace& place, std::chrono::system_clock::time_point now);

// "<log_dir>/ffmpeg-ingest-<vhost>-<app>-<stream>-<id>.log", or empty for /dev/null. App and stream are those of the output.
std::string ingest_log_path(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place);

}  // namespace live::service::ingest
