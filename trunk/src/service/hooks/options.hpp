// The HTTP callbacks about the clients and streams of one virtual host: plain values with their defaults.
#pragma once

#include <string>
#include <vector>

namespace live::service::hooks {

struct HookOptions {
    bool enabled = false;
    // Off: param, tcUrl and pageUrl have "***" in the place of passwords, tokens and keys.
    bool credentials = true;
    // URLs, called in order.
    std::vector<std::string> on_connect;
    std::vector<std::string> on_close;
    std::vector<std::string> on_publish;
    std::vector<std::string> on_unpublish;
    std::vector<std::string> on_play;
    std::vector<std::string> on_stop;
    std::vector<std::string> on_dvr;
    std::vector<std::string> on_upload;
    std::vector<std::string> on_hls;
    std::vector<std::string> on_hls_notify;  // templates
};

}  // namespace live::service::hooks
