// Options of one ffmpeg child process: the engine {} block that ingest and transcode share. Plain values with their defaults; the
// service turns them into an argument list.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace live::service::ffmpeg {

// Entries of perfile, vfilter, vparams and aparams: "name value;" becomes "-name value", "name;" becomes "-name".
using Arguments = std::vector<std::pair<std::string, std::string>>;

struct EngineOptions {
    // The name after the word engine; may be empty.
    std::string name;
    bool enabled = false;
    Arguments perfile;
    // "off" omits -f.
    std::string iformat = "flv";
    Arguments vfilter;
    // Empty, "copy", "an"/"vn" (no audio, no video) or an encoder's name.
    std::string vcodec;
    // Zero omits the option; bitrates in kbps.
    std::uint32_t vbitrate_kbps = 0;
    double vfps = 0;
    std::uint32_t vwidth = 0;
    std::uint32_t vheight = 0;
    std::uint32_t vthreads = 1;
    std::string vprofile;
    std::string vpreset;
    Arguments vparams;
    std::string acodec;
    std::uint32_t abitrate_kbps = 0;
    std::uint32_t asample_rate = 0;
    std::uint32_t achannels = 0;
    Arguments aparams;
    std::string oformat = "flv";
    // A URL or file with the variables [vhost] [port] [app] [stream] [engine] ...
    std::string output;

    bool operator==(const EngineOptions&) const = default;
};

}  // namespace live::service::ffmpeg
