// StreamList: the stream list from the settings tree: the streams that a client may see, and the URLs at which it reaches them.
// HTTP URLs have the request's Host field, whatever proxies are in between; those of other protocols have its host name and the
// ports of the settings. Each protocol adds its URLs (session::Protocol::add_urls).
#pragma once

#include <memory>
#include <string_view>

#include "api/streams/stream_list_handler.hpp"
#include "service/hls/file_index.hpp"
#include "session/common/protocol.hpp"
#include "session/http/handler.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class StreamList final : public api::StreamListSettings {
public:
    // All must outlive this. `protocols` may be filled later. `dash` is queried with requests for its streams.
    StreamList(const settings::CurrentSettings& settings, const session::Protocols& protocols, const service::hls::FileIndex& hls,
               const session::http::Handler& dash)
        : settings_(settings), protocols_(protocols), hls_(hls), dash_(dash) {}

    bool is_enabled() const override { return settings_->http_server.stream_list; }
    std::string_view hls_format(const api::ListedStream& stream) const override;
    std::unique_ptr<api::StreamListView> view(const session::http::Request& request) const override;

private:
    const settings::CurrentSettings& settings_;
    const session::Protocols& protocols_;
    const service::hls::FileIndex& hls_;
    const session::http::Handler& dash_;
};

}  // namespace live::app
