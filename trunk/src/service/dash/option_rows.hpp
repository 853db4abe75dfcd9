// The rows of service/dash/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/dash/options.hpp"

namespace live::service::dash {

inline constexpr auto kNextPublisher = config::Reload::next_session;

inline constexpr auto kDashRows = config::Rows{
    config::row(&DashOptions::enabled, "enabled", kNextPublisher, "Writes MPEG-DASH."),
    config::row(&DashOptions::fragment, "dash_fragment", 0s, 3600s, kNextPublisher,
                "The duration of a fragment in seconds, until the next key frame; fractions are allowed."),
    config::row(&DashOptions::update_period, "dash_update_period", 0s, 86'400s, kNextPublisher,
                "minimumUpdatePeriod of the MPD: the interval at which players reload it."),
    config::row(&DashOptions::timeshift, "dash_timeshift", 0s, 864'000s, kNextPublisher,
                "Accepted without effect: the window decides the depth."),
    config::row(&DashOptions::path, "dash_path", kNextPublisher, "The base directory."),
    config::row(&DashOptions::push, "push", kNextPublisher, "Ours: copies the files elsewhere, as push of hls {}.")
        .example("http://cdn.example.com/dash/"),
    config::row(&DashOptions::mpd_file, "dash_mpd_file", kNextPublisher,
                "The name of the MPD in it. Fragments are in the folder of that name without the extension."),
    config::row(&DashOptions::window_size, "dash_window_size", 1, 100'000, kNextPublisher, "The number of fragments in the MPD.")
        .clamped(),
    config::row(&DashOptions::window_bytes, "dash_window_bytes", 1 << 20, std::uint64_t{1} << 40, kNextPublisher,
                "Ours: the limit of a stream's fragments in memory, in bytes. Above it the oldest fragments leave the MPD before "
                "there are "
                "dash_window_size; the newest one is always kept.")
        .clamped(),
    config::row(&DashOptions::cleanup, "dash_cleanup", kNextPublisher, "Deletes fragments that have left the MPD."),
    config::row(&DashOptions::dispose, "dash_dispose", 0s, 864'000s, kNextPublisher,
                "Deletes all files this many seconds after the publisher has left; 0: never."),
    config::row(&DashOptions::ll, "dash_ll", kNextPublisher,
                "Ours: low latency. The MPD lists a fragment in progress, which is sent in chunks."),
    config::row(&DashOptions::part, "dash_part", 50ms, 2000ms, kNextPublisher,
                "Ours: the duration of such a chunk in milliseconds.")
        .clamped(),
};

}  // namespace live::service::dash
