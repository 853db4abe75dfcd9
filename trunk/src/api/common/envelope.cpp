#include "api/common/envelope.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

bool is_callback_name(std::string_view name) {
    constexpr std::string_view kAllowed = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.$";
    return !name.empty() && name.size() <= kCallbackBytesMax && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

std::string envelope(const ServerInfo& server, std::string_view key, std::string_view value) {
    std::string text = envelope(server);
    text.pop_back();
    text += ",\"";
    text += key;
    text += "\":";
    text += value;
    text += '}';
    return text;
}

std::string envelope(const ServerInfo& server) {
    nlohmann::ordered_json head;
    head["code"] = 0;
    head["server"] = server.server_id;
    head["service"] = server.service_id;
    head["pid"] = std::to_string(server.process_id);
    return text_of(head);
}

std::string_view method_of(const session::http::Request& request) {
    return request.is_get() ? "GET" : std::string_view(request.message.method);
}

session::http::Reply json_reply(const session::http::Request& request, std::string json) {
    session::http::Reply reply;
    const auto callback = request.target.query.find("callback");
    if (!callback || !request.allows_jsonp || !request.is_get()) {
        reply.body = std::move(json);
        return reply;
    }
    if (!is_callback_name(*callback))
        return session::http::error_reply(wire::http::Status::bad_request, "callback is not a name");
    reply.content_type = "text/javascript";
    reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
    reply.body = std::string(*callback) + "(" + json + ")";
    return reply;
}

}  // namespace live::api
