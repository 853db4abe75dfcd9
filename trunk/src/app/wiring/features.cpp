#include "app/wiring/features.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace live::app {

namespace {

struct Feature {
    std::string_view in_log;  // empty: not listed
    std::string_view in_api;  // likewise
    std::string_view option;  // the option whose row has the support status; empty: always available
};

constexpr std::array kFeatures = {
    Feature{"", "ssl", ""},
    Feature{"rch", "", ""},  // RTMP's complex handshake
    Feature{"dash", "", "vhost.dash"},
    Feature{"hls", "hls", "vhost.hls"},
    Feature{"hds", "hds", "vhost.hds"},
    Feature{"srt", "", "srt_server"},
    Feature{"hc", "callback", "vhost.http_hooks"},
    Feature{"ha", "api", "http_api"},
    Feature{"hs", "httpd", "http_server"},
    Feature{"hp", "", ""},  // HTTP parser
    Feature{"dvr", "dvr", "vhost.dvr"},
    Feature{"trans", "transcode", "vhost.transcode"},
    Feature{"inge", "ingest", "vhost.ingest"},
    Feature{"stat", "stat", ""},
    Feature{"sc", "caster", "stream_caster"},
    Feature{"", "complex_send", ""},
    Feature{"", "tcp_nodelay", "vhost.tcp_nodelay"},
    Feature{"", "so_sendbuf", ""},
    Feature{"", "mr", "vhost.publish.mr"},
};

bool can_load(const Feature& feature, std::span<const config::RowInfo> rows) {
    if (feature.option.empty())
        return true;
    const auto row = std::ranges::find(rows, feature.option, &config::RowInfo::path);
    return row != rows.end() && row->facts.support == config::Support::works;
}

}  // namespace

std::string features_text(std::span<const config::RowInfo> rows) {
    std::string text;
    for (const Feature& feature : kFeatures)
        if (!feature.in_log.empty())
            text += (text.empty() ? "" : ", ") + std::string(feature.in_log) + (can_load(feature, rows) ? ":on" : ":off");
    return text;
}

std::vector<std::pair<std::string, bool>> features_of(std::span<const config::RowInfo> rows) {
    std::vector<std::pair<std::string, bool>> all;
    for (const Feature& feature : kFeatures)
        if (!feature.in_api.empty())
            all.emplace_back(feature.in_api, can_load(feature, rows));
    return all;
}

}  // namespace live::app
