// Options for the HTTP live streams of one virtual host (http_remux {}). The rows are in option_rows.hpp.
#pragma once

#include <chrono>
#include <string>

#include "base/config/option_check.hpp"

namespace live::session::http_live {

struct RemuxOptions {
    bool enabled = false;
    std::string mount = "[vhost]/[app]/[stream].flv";
    std::chrono::milliseconds fast_cache{0};
    bool drop_if_not_match = true;
    bool has_audio = true;
    bool has_video = true;
    bool guess_has_av = true;
};

config::Findings check_remux_options(const RemuxOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<RemuxOptions> kRemuxCheck{check_remux_options, true};

}  // namespace live::session::http_live
