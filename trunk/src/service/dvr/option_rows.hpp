// The rows of service/dvr/options.hpp.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "media/ring/option_rows.hpp"
#include "service/dvr/options.hpp"

namespace live::service::dvr {

inline constexpr std::array kDvrPlanNames = {
    config::Named<DvrPlan>{"session", DvrPlan::session},
    config::Named<DvrPlan>{"segment", DvrPlan::segment},
};
inline constexpr std::array kDvrFormatNames = {
    config::Named<DvrFormat>{"auto", DvrFormat::by_name},
    config::Named<DvrFormat>{"fmp4", DvrFormat::fmp4},
};

inline constexpr auto kDvrRows = config::Rows{
    config::row(&DvrOptions::enabled, "enabled", config::Reload::next_session, "Records published streams."),
    config::row(&DvrOptions::apply, "dvr_apply", config::Reload::next_session,
                "The recorded streams: all, or a list of app/stream.")
        .not_in_environment(),
    config::row(&DvrOptions::plan, "dvr_plan", kDvrPlanNames, config::Reload::next_session,
                "session: one file per publisher; segment: files of dvr_duration."),
    config::row(
        &DvrOptions::path, "dvr_path", config::Reload::next_session,
        "The file name, which ends with .flv or .mp4, or a directory for [stream].[timestamp].flv. Variables: [vhost] [app] "
        "[stream] [2006] [01] [02] [15] [04] [05] [999] [timestamp]. Existing files are never changed (3082)."),
    config::row(&DvrOptions::format, "dvr_format", kDvrFormatNames, config::Reload::next_session,
                "auto: by the file's extension; fmp4: fragmented MP4, which can be played while it is written."),
    config::row(&DvrOptions::duration, "dvr_duration", 0s, 864'000s, config::Reload::next_session,
                "The duration of a segment in seconds; fractions are allowed."),
    config::row(&DvrOptions::wait_keyframe, "dvr_wait_keyframe", config::Reload::next_session,
                "Files begin with a key frame, and segments end at one."),
    config::row(&DvrOptions::time_jitter, "time_jitter", media::kTimeJitterNames, config::Reload::next_session,
                "off: keeps the publisher's timestamps; otherwise each file begins at zero."),
};

}  // namespace live::service::dvr
