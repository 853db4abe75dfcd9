// StreamList: what the list of streams asks of the settings tree: which streams a client may see, and the addresses under
// which it reaches them. HTTP's are made of the request's own Host field, whatever stands between; those of other protocols of
// its name and the ports of the settings.
#pragma once

#include <memory>

#include "api/stream_list_handler.hpp"
#include "service/hls/file_index.hpp"
#include "session/http/handler.hpp"
#include "settings/current_settings.hpp"

namespace live::settings {

class StreamList final : public api::StreamListSettings {
public:
    // All outlive this. `dash` takes the requests of what it has.
    StreamList(const CurrentSettings& settings, const service::hls::FileIndex& hls, const session::http::Handler& dash)
        : settings_(settings), hls_(hls), dash_(dash) {}

    bool is_enabled() const override { return settings_->http_server.stream_list; }
    std::unique_ptr<api::StreamListView> view(const session::http::Request& request) const override;

private:
    const CurrentSettings& settings_;
    const service::hls::FileIndex& hls_;
    const session::http::Handler& dash_;
};

}  // namespace live::settings
