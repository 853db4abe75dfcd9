// StreamList: answers the stream list from the settings tree: which streams a client may see, and the URLs at which it reaches
// them. HTTP URLs use the request's own Host field, whatever proxies are in between; those of other protocols use its host name
// and the ports of the settings.
#pragma once

#include <memory>
#include <string_view>

#include "api/streams/stream_list_handler.hpp"
#include "service/hls/file_index.hpp"
#include "session/http/handler.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class StreamList final : public api::StreamListSettings {
public:
    // All outlive this. `dash` is queried with requests for its streams.
    StreamList(const settings::CurrentSettings& settings, const service::hls::FileIndex& hls, const session::http::Handler& dash)
        : settings_(settings), hls_(hls), dash_(dash) {}

    bool is_enabled() const override { return settings_->http_server.stream_list; }
    std::string_view hls_format(const api::ListedStream& stream) const override;
    std::unique_ptr<api::StreamListView> view(const session::http::Request& request) const override;

private:
    const settings::CurrentSettings& settings_;
    const service::hls::FileIndex& hls_;
    const session::http::Handler& dash_;
};

}  // namespace live::app
