// The rows of service/ladder/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/ladder/options.hpp"

namespace live::service::ladder {

inline constexpr auto kRenditionRows = config::Rows{
    config::row(&RenditionOptions::height, "height", 0, 4320, config::Reload::next_session,
                "Rows of the image, even; the width follows. Default: the number in the name, as in 720p."),
    config::row(&RenditionOptions::vbitrate_kbps, "vbitrate", 0, 200'000, config::Reload::next_session,
                "kbps; 0 is a rate that fits the height."),
    config::row(&RenditionOptions::vcodec, "vcodec", config::Reload::next_session, "Its encoder; by default that of the ladder.")
        .example("libx264"),
    config::row(&RenditionOptions::vpreset, "vpreset", config::Reload::next_session, "Its preset; by default that of the ladder.")
        .example("veryfast"),
    config::row(&RenditionOptions::vprofile, "vprofile", config::Reload::next_session, "Its profile.").example("main"),
    config::row(&RenditionOptions::vthreads, "vthreads", 0, 64, config::Reload::next_session,
                "Threads of its encoder; 0 is that of the ladder."),
    config::row(&RenditionOptions::vparams, "vparams", config::Reload::next_session, "More options of its encoder.")
        .example("tune zerolatency;"),
};

inline constexpr auto kLadderRows = config::Rows{
    config::row(&LadderOptions::enabled, "enabled", config::Reload::next_session,
                "Runs one ffmpeg for each published stream, which encodes its renditions."),
    config::row(&LadderOptions::on_demand, "on_demand", config::Reload::next_session,
                "It runs only from the first player of the renditions until 10 s after the last one."),
    config::row(&LadderOptions::ffmpeg, "ffmpeg", config::Reload::next_session, "Path of the ffmpeg program.")
        .example("./objs/ffmpeg/bin/ffmpeg"),
    config::row(&LadderOptions::perfile, "perfile", config::Reload::next_session,
                "Options before -i, such as those of a hardware decoder.")
        .example("hwaccel cuda;"),
    config::row(&LadderOptions::vcodec, "vcodec", config::Reload::next_session, "The encoder."),
    config::row(&LadderOptions::fallback, "fallback", config::Reload::next_session,
                "The encoder to use instead when ffmpeg ends before its first frame: a missing encoder or device.")
        .example("libx264"),
    config::row(&LadderOptions::vpreset, "vpreset", config::Reload::next_session, "The encoder's preset; - leaves it out."),
    config::row(&LadderOptions::vthreads, "vthreads", 1, 64, config::Reload::next_session, "Threads of each encoder."),
    config::row(&LadderOptions::scaler, "scaler", config::Reload::next_session,
                "The scaling filter: scale, scale_cuda, scale_vaapi, scale_qsv."),
    config::blocks(&LadderOptions::renditions, "rendition", &RenditionOptions::name, "name", kRenditionRows,
                   "A smaller version of the stream. One that is not smaller is left out, or has the size of the stream.")
        .example("720p"),
};

}  // namespace live::service::ladder
