#include "session/http_live/publish_handler.hpp"

#include "session/http/client.hpp"
#include "session/http/exchange.hpp"
#include "session/http_live/mount.hpp"
#include "session/http_live/publish_session.hpp"
#include "wire/http/status.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::http_live {

namespace {

using wire::http::Status;

void replace(std::string& text, std::string_view what, const std::string& with) {
    if (const std::size_t at = text.find(what); at != std::string::npos)
        text.replace(at, what.size(), with);
}

}  // namespace

Result<ClientRequest> PublishHandler::publisher_of(const http::Request& request) const {
    const auto mount = TRY(Mount::parse("/[app]/[stream].flv"));
    const auto named = mount.match(request.path());
    if (!named)
        return Error(Errc::not_found, "a stream is posted to /APP/STREAM.flv");
    // Names are checked first: the URL they become part of is parsed again.
    TRY(wire::rtmp::admit_name(named->app));
    TRY(wire::rtmp::admit_name(named->stream));
    std::string output = output_;
    replace(output, "[app]", named->app);
    replace(output, "[stream]", named->stream);
    const auto url = TRY(wire::rtmp::parse_stream_url(output));
    TRY(wire::rtmp::admit(url));
    return http::client_of(request, ClientKind::fmle_publish, url.vhost, url.app, url.stream);
}

Result<void> PublishHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const std::string& method = exchange.request().message.method;
    if (method != "POST" && method != "PUT")
        return exchange.send(http::method_not_allowed("POST, PUT, OPTIONS", "a stream is published with POST"), deadline);
    auto client = publisher_of(exchange.request());
    if (!client.ok())
        return exchange.send(http::error_reply(Status::not_found, client.error().sentence()), deadline);
    return PublishSession(exchange, context_, *std::move(client)).run(deadline);
}

}  // namespace live::session::http_live
