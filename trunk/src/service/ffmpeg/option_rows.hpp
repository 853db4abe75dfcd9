// The rows of service/ffmpeg/options.hpp: the engine {} block of ingest and transcode.
#pragma once

#include <array>
#include <string_view>

#include "base/config/row.hpp"
#include "service/ffmpeg/options.hpp"

namespace live::service::ffmpeg {

// Empty is a copy too, so that an incomplete engine never runs an encoder.
inline constexpr std::array<std::string_view, 3> kProfiles = {"high", "main", "baseline"};
inline constexpr std::array<std::string_view, 10> kPresets = {"ultrafast", "superfast", "veryfast", "faster",   "fast",
                                                              "medium",    "slow",      "slower",   "veryslow", "placebo"};

inline constexpr auto kEngineRows = config::Rows{
    config::row(&EngineOptions::enabled, "enabled", config::Reload::live,
                "Off: transcode leaves the engine out, and an ingest copies the stream as it is."),
    config::row(&EngineOptions::perfile, "perfile", config::Reload::live,
                "Options before -i: re; becomes -re, name value; -name value.")
        .example("re;"),
    config::row(&EngineOptions::iformat, "iformat", config::Reload::live, "Format of the input; off leaves -f out."),
    config::row(&EngineOptions::vfilter, "vfilter", config::Reload::live, "Options behind the input, such as filters.")
        .example("vf drawtext=text=live;"),
    config::row(&EngineOptions::vcodec, "vcodec", config::Reload::live, "Video encoder, copy, or vn for no video.")
        .example("libx264"),
    config::row(&EngineOptions::vbitrate_kbps, "vbitrate", 0, 1'000'000, config::Reload::live, "Video kbps; 0 leaves it out."),
    config::row(&EngineOptions::vfps, "vfps", 0, 1000, config::Reload::live, "Pictures a second; 0 leaves it out."),
    config::row(&EngineOptions::vwidth, "vwidth", 0, 16'384, config::Reload::live, "Picture width, even; 0 leaves it out."),
    config::row(&EngineOptions::vheight, "vheight", 0, 16'384, config::Reload::live, "Picture height, even; 0 leaves it out."),
    config::row(&EngineOptions::vthreads, "vthreads", 0, 1024, config::Reload::live, "Threads of the encoder; 0 leaves it out."),
    config::row(&EngineOptions::vprofile, "vprofile", kProfiles, config::Reload::live, "Profile of the x264 encoder.")
        .example("main"),
    config::row(&EngineOptions::vpreset, "vpreset", kPresets, config::Reload::live, "Preset of the x264 encoder.")
        .example("medium"),
    config::row(&EngineOptions::vparams, "vparams", config::Reload::live, "More options of the video encoder.").example("g 100;"),
    config::row(&EngineOptions::acodec, "acodec", config::Reload::live, "Audio encoder, copy, or an for no audio.")
        .example("aac"),
    config::row(&EngineOptions::abitrate_kbps, "abitrate", 0, 10'000, config::Reload::live, "Audio kbps; 0 leaves it out."),
    config::row(&EngineOptions::asample_rate, "asample_rate", 0, 384'000, config::Reload::live,
                "Samples a second; 0 leaves it out."),
    config::row(&EngineOptions::achannels, "achannels", 0, 2, config::Reload::live, "Audio channels; 0 leaves it out."),
    config::row(&EngineOptions::aparams, "aparams", config::Reload::live, "More options of the audio encoder.")
        .example("profile:a aac_low;"),
    config::row(&EngineOptions::oformat, "oformat", config::Reload::live, "Format of the output; off leaves -f out."),
    config::row(&EngineOptions::output, "output", config::Reload::live,
                "Where the result goes, with variables such as [port] and [vhost].")
        .example("rtmp://127.0.0.1:[port]/live/livestream?vhost=[vhost]"),
};

}  // namespace live::service::ffmpeg
