// Options of a ladder {}: smaller versions of each stream of a virtual host, which one ffmpeg per stream encodes. Plain values
// with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config/option_check.hpp"
#include "service/ffmpeg/options.hpp"

namespace live::service::ladder {

struct RenditionOptions {
    // The word after `rendition`: its name for players. "720p" sets the height too.
    std::string name;
    std::uint32_t height = 0;
    // 0: a rate that fits the height.
    std::uint32_t vbitrate_kbps = 0;
    // Empty or 0: that of the ladder.
    std::string vcodec;
    std::string vpreset;
    std::string vprofile;
    std::uint32_t vthreads = 0;
    ffmpeg::Arguments vparams;
};

struct LadderOptions {
    bool enabled = false;
    bool on_demand = false;
    std::string ffmpeg;
    // Options before -i, such as those of a hardware decoder.
    ffmpeg::Arguments perfile;
    std::string vcodec = "libx264";
    // Encoder to use when a child ends before its first frame; empty: none.
    std::string fallback;
    std::string vpreset = "veryfast";
    std::uint32_t vthreads = 2;
    // The scaling filter: scale, scale_cuda, scale_vaapi, ...
    std::string scaler = "scale";
    std::vector<RenditionOptions> renditions;
};

// Returns the height of a rendition: the configured one, or the one in its name; 0 without either.
std::uint32_t height_of(const RenditionOptions& rendition);

config::Findings check_ladder_options(const LadderOptions& ladder, const config::CheckContext& around);
inline constexpr config::OptionCheck<LadderOptions> kLadderCheck{check_ladder_options};

}  // namespace live::service::ladder
