#include "api/system/info_handlers.hpp"

#include <array>
#include <chrono>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "api/system/server_handlers.hpp"
#include "base/text/json_text.hpp"
#include "base/version.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

constexpr const char* kErrorsPath = "/api/v1/tests/errors";

std::string authors(const ServerInfo& server) {
    const Json data = {{"license", server.license}, {"contributors", server.contributors}};
    return envelope(server, "data", text_of(data));
}

std::string features(const ServerInfo& server) {
    Json able = Json::object();
    for (const auto& [name, is_able] : server.features)
        able[name] = is_able;
    const Json data = {{"options", server.user_options},
                       {"options2", server.options},
                       {"build", server.build_date},
                       {"build2", server.build_machine},
                       {"features", able}};
    return envelope(server, "data", text_of(data));
}

// A page of another origin may read this response; it must not learn the browser's credentials.
bool is_secret(std::string_view name) {
    static constexpr std::array<std::string_view, 3> kSecrets = {"Authorization", "Proxy-Authorization", "Cookie"};
    return std::ranges::any_of(kSecrets, [name](std::string_view secret) { return engine::http1::same_name(name, secret); });
}

}  // namespace

Reply RequestsHandler::handle(const Request& request, io::Deadline) {
    Json headers = Json::object();
    for (const auto& field : request.message.headers.fields())
        if (!is_secret(field.name))
            headers[field.name] = field.value;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    headers["sigature"] = kProduct;  // spelled as clients expect it
    headers["version"] = kVersion;
    headers["link"] = server_.contributors;
    headers["time"] = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    const Json data = {
        {"uri", request.message.target}, {"path", request.path()}, {"METHOD", request.message.method}, {"headers", headers}};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

Reply ErrorsHandler::handle(const Request&, io::Deadline) {
    constexpr int kTestError = 100;
    return error_reply(wire::http::Status::bad_request, kTestError, "this endpoint always fails");
}

Reply RedirectsHandler::handle(const Request&, io::Deadline) {
    return {wire::http::Status::moved_permanently, "text/plain", "", {{"Location", kErrorsPath}}};
}

void add_info(Endpoints& endpoints) {
    const ServerInfo& server = endpoints.server();
    endpoints.add<FixedHandler>("/api/v1/authors", authors(server));
    endpoints.add<FixedHandler>("/api/v1/features", features(server));
    for (const char* path : {"/api/v1/requests", "/api/v1/tests/requests"})
        endpoints.add<RequestsHandler>(path, server);
    endpoints.add<ErrorsHandler>(kErrorsPath);
    endpoints.add<RedirectsHandler>("/api/v1/tests/redirects");
}

}  // namespace live::api
