// File names and formats of recordings, and which streams are recorded. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/text/variables.hpp"
#include "service/dvr/options.hpp"

namespace live::service::dvr {

enum class FileFormat : std::uint8_t { flv, mp4, fmp4 };

// The recorded stream. The names have passed the allow-list, so none can lead out of a folder.
struct StreamName {
    std::string vhost;  // its name in the settings
    std::string app;
    std::string stream;
};

// dvr_apply: "all", or "app/stream".
bool is_recorded(const DvrOptions& options, const StreamName& name);

FileFormat format_of(const DvrOptions& options);
// The same with its variables replaced, time variables by `now`.
std::string file_name(const DvrOptions& options, const StreamName& name, std::chrono::system_clock::time_point now, Zone zone);

}  // namespace live::service::dvr
