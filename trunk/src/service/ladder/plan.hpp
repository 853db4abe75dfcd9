// The renditions of one stream, and the arguments of the ffmpeg that encodes them. Pure: no clock, no file, no shell. No name of
// a stream is among the arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "service/ladder/options.hpp"

namespace live::service::ladder {

// The first descriptors of the child after standard error: its progress, then one per rendition.
inline constexpr int kProgressHandle = 3;
inline constexpr int kFirstOutputHandle = 4;
// As many as a source takes.
inline constexpr std::size_t kRungsMax = 8;
// The least height of a rendition.
inline constexpr std::uint32_t kHeightMin = 64;

struct Rung {
    std::string name;
    std::uint32_t height = 0;
    std::uint32_t kbps = 0;
    std::string vcodec;
    std::string vpreset;
    std::string vprofile;
    std::uint32_t threads = 0;
    ffmpeg::Arguments vparams;
};

// Returns the renditions of a stream with `source_height` rows, highest first. The smallest one that is not smaller than the
// stream gets the stream's size, and larger ones are left out: the stream itself is the top.
// If one of several is left, another one has half the stream's size.
std::vector<Rung> plan_rungs(const LadderOptions& options, std::uint32_t source_height);
// The rate of a rendition without one, for 30 frames per second.
std::uint32_t usual_kbps(std::uint32_t height);

// The first word is the program as configured. Reads FLV from standard input. `encoder`: instead of the configured ones, if not
// empty.
std::vector<std::string> ladder_arguments(const LadderOptions& options, const std::vector<Rung>& rungs, std::string_view encoder);

}  // namespace live::service::ladder
