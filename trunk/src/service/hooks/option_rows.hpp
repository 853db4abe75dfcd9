// The rows of service/hooks/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/hooks/options.hpp"

namespace live::service::hooks {

inline constexpr auto kHookRows = config::Rows{
    config::row(&HookOptions::enabled, "enabled", config::Reload::live,
                "Callbacks over HTTP. A change applies from the next event on."),
    config::row(
        &HookOptions::credentials, "credentials", config::Reload::live,
        "Ours: param contains passwords, tokens and keys as the client has sent them, and the Bearer token of HTTP clients. Off: "
        "*** in their place."),
    config::row(&HookOptions::on_connect, "on_connect", config::Reload::live, "An RTMP or SRT client connects. May refuse it.")
        .example("http://127.0.0.1:8085/api/v1/clients"),
    config::row(&HookOptions::on_close, "on_close", config::Reload::live, "The connection of a client is closed.")
        .example("http://127.0.0.1:8085/api/v1/clients"),
    config::row(&HookOptions::on_publish, "on_publish", config::Reload::live, "A client is about to publish. May refuse it.")
        .example("http://127.0.0.1:8085/api/v1/streams"),
    config::row(&HookOptions::on_unpublish, "on_unpublish", config::Reload::live, "A client has stopped publishing.")
        .example("http://127.0.0.1:8085/api/v1/streams"),
    config::row(&HookOptions::on_play, "on_play", config::Reload::live, "A client is about to play. May refuse it.")
        .example("http://127.0.0.1:8085/api/v1/sessions"),
    config::row(&HookOptions::on_stop, "on_stop", config::Reload::live, "A client has stopped playing.")
        .example("http://127.0.0.1:8085/api/v1/sessions"),
    config::row(&HookOptions::on_dvr, "on_dvr", config::Reload::live, "A recording is complete.")
        .example("http://127.0.0.1:8085/api/v1/dvrs"),
    config::row(&HookOptions::on_upload, "on_upload", config::Reload::live,
                "Ours: a recording was uploaded, or another object has its name.")
        .example("http://127.0.0.1:8085/api/v1/dvrs"),
    config::row(&HookOptions::on_hls, "on_hls", config::Reload::live, "A fragment is complete.")
        .example("http://127.0.0.1:8085/api/v1/hls"),
    config::row(&HookOptions::on_hls_notify, "on_hls_notify", config::Reload::live, "URL templates, fetched for each fragment.")
        .example("http://127.0.0.1:8085/api/v1/hls/[app]/[stream]/[ts_url]"),
};

}  // namespace live::service::hooks
