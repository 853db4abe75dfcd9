// Any text as an origin, as a redirect, and as a peer's path of servers is parsed or refused. A parsed origin can be dialled. An
// extended path ends with this server, and can be extended by another one or is refused.
#include <algorithm>

#include "base/bytes/bytes.hpp"
#include "service/relay/upstream/upstream_request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text({data, size});
    const auto origin = service::relay::parse_origin(text);
    if (origin.ok())
        CHECK(!origin->host.empty() && origin->port != 0 && service::relay::parse_origin(origin->text()).ok());
    const service::relay::Wanted from{{"192.0.2.1", 80, service::relay::Scheme::http}, "v", "live", "cam", "?a=1", {}};
    if (const auto sent = service::relay::follow_redirect(from, text); sent.ok()) {
        CHECK(!sent->origin.host.empty() && sent->origin.port != 0 && !sent->app.empty() && !sent->stream.empty());
        const std::string request = service::relay::flv_request(*sent, {"id", "sig", "1", 1}, {"id"});
        CHECK(request.ends_with("\r\n\r\n") && std::ranges::count(request, '\n') < 10);
    }
    // The requested stream is the one that the client was admitted to, for any query.
    service::relay::Wanted called{{"192.0.2.1", 80, service::relay::Scheme::srt}, "v", "live", "cam", std::string(text), {}};
    if (const auto call = service::relay::srt_request(called, session::srt::Mode::request, "id"); call.ok()) {
        const auto asked = session::srt::parse_stream_id(call->stream_id, {});
        CHECK(asked.ok() && asked->mode == session::srt::Mode::request && asked->relay_path == "id");
        CHECK(asked->url.vhost == "v" && asked->url.app == "live" && asked->url.stream == "cam");
    }
    const auto path = service::relay::extend_path(text, "this");
    if (path.ok()) {
        CHECK(path->ends_with("this") && path->size() < service::relay::kPathBytesMax);
        CHECK(!service::relay::extend_path(*path, "this").ok());
    }
    return 0;
}
