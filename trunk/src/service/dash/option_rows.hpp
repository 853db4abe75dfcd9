// The rows of service/dash/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/dash/options.hpp"

namespace live::service::dash {

inline constexpr auto kNextPublisher = config::Reload::next_session;

inline constexpr auto kDashRows = config::Rows{
    config::row(&DashOptions::enabled, "enabled", kNextPublisher, "Writes MPEG-DASH."),
    config::row(&DashOptions::fragment, "dash_fragment", 0s, 3600s, kNextPublisher,
                "Length of a fragment, which ends at the next key frame; fractions are allowed."),
    config::row(&DashOptions::update_period, "dash_update_period", 0s, 86'400s, kNextPublisher,
                "minimumUpdatePeriod of the MPD: how often players look for a new one."),
    config::row(&DashOptions::timeshift, "dash_timeshift", 0s, 864'000s, kNextPublisher,
                "Accepted; the depth follows from the window."),
    config::row(&DashOptions::path, "dash_path", kNextPublisher, "Base directory."),
    config::row(&DashOptions::mpd_file, "dash_mpd_file", kNextPublisher,
                "Name of the MPD below it; fragments are in a folder of that name without its ending."),
    config::row(&DashOptions::window_size, "dash_window_size", 1, 100'000, kNextPublisher, "Fragments in the MPD.").clamped(),
    config::row(
        &DashOptions::window_bytes, "dash_window_bytes", 1 << 20, std::uint64_t{1} << 40, kNextPublisher,
        "Ours: bytes of fragments that a stream holds in memory. Where they are more than dash_window_size, the oldest leave the "
        "MPD sooner; the newest stays whatever its size.")
        .clamped(),
    config::row(&DashOptions::cleanup, "dash_cleanup", kNextPublisher, "Deletes fragments that have left the MPD."),
    config::row(&DashOptions::dispose, "dash_dispose", 0s, 864'000s, kNextPublisher,
                "Seconds after unpublishing until all is deleted; 0 never."),
    config::row(&DashOptions::ll, "dash_ll", kNextPublisher,
                "Ours: low latency. A fragment is listed when it begins, and sent in chunks as they are made."),
    config::row(&DashOptions::part, "dash_part", 50ms, 2000ms, kNextPublisher, "Ours: milliseconds of such a chunk.").clamped(),
};

}  // namespace live::service::dash
