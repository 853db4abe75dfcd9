// The rows of service/exec/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/exec/options.hpp"

namespace live::service::exec {

inline constexpr auto kExecRows = config::Rows{
    config::row(&ExecOptions::enabled, "enabled", config::Reload::next_session, "Starts programs when a stream is published."),
    config::row(&ExecOptions::publish, "publish", config::Reload::next_session,
                "A program and its arguments, with variables; no shell. >FILE, 1>FILE and 2>FILE append its output to a file. It "
                "is stopped when the stream ends, and restarted when it fails.")
        .example("./objs/ffmpeg/bin/ffmpeg -f flv -i [url] -c copy -y ./[stream].flv"),
    config::row(&ExecOptions::restart, "restart", config::Reload::next_session,
                "Ours: restarts programs that have exited with 0, too."),
};

}  // namespace live::service::exec
