// The recording options of one virtual host, with their defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "media/ring/options.hpp"

namespace live::service::dvr {

enum class DvrPlan : std::uint8_t { session, segment };
// by_name: the file's extension selects the format. fmp4: fragmented MP4, which is readable up to its last fragment at any
// time.
enum class DvrFormat : std::uint8_t { by_name, fmp4 };

struct DvrOptions {
    bool enabled = false;
    std::vector<std::string> apply = {"all"};
    DvrPlan plan = DvrPlan::session;
    std::string path = "./objs/dvr/[app]/[stream].[timestamp].flv";
    DvrFormat format = DvrFormat::by_name;
    std::chrono::milliseconds duration = std::chrono::seconds(30);
    bool wait_keyframe = true;
    media::TimeJitter time_jitter = media::TimeJitter::full;
};

// dvr_path as a file name template: a path without the extension .flv or .mp4 is a folder.
std::string path_template(const DvrOptions& options);

}  // namespace live::service::dvr
