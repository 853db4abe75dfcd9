#include "api/system/raw_handler.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

using wire::http::Status;
constexpr int kUnknownCall = 1060;
constexpr int kSwitchedOff = 1061;

}  // namespace

Reply RawHandler::raw(const Request& request) const {
    const RawControl::Settings settings = control_.settings();
    const Json shown = {{"enabled", settings.enabled},
                        {"listen", settings.listen},
                        {"crossdomain", settings.crossdomain},
                        {"raw_api",
                         {{"enabled", settings.raw_enabled},
                          {"allow_reload", settings.allow_reload},
                          {"allow_query", settings.allow_query},
                          {"allow_update", settings.allow_update}}}};
    return json_reply(request, envelope(server_, "http_api", text_of(shown)));
}

Reply RawHandler::last_reload(const Request& request) const {
    const RawControl::Reload reload = control_.last_reload();
    const Json data = {
        {"err", reload.error}, {"msg", reload.message}, {"state", static_cast<int>(reload.stage)}, {"rid", reload.id}};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

Reply RawHandler::handle(const Request& request, io::Deadline) {
    const std::string_view call = request.target.query.get("rpc");
    if (call == "raw")
        return raw(request);
    const RawControl::Settings settings = control_.settings();
    if (!settings.raw_enabled)
        return error_reply(Status::forbidden, kSwitchedOff, "http_api.raw_api is off");
    if (call == "reload-fetch")
        return last_reload(request);
    if (call == "reload") {
        if (!settings.allow_reload)
            return error_reply(Status::forbidden, kSwitchedOff, "http_api.raw_api.allow_reload is off");
        control_.request_reload();
        return json_reply(request, envelope(server_));
    }
    if (call == "query" || call == "update")
        return error_reply(Status::forbidden, kSwitchedOff, "settings are not asked for or changed over HTTP");
    return error_reply(Status::bad_request, kUnknownCall, "rpc is raw, reload or reload-fetch");
}

}  // namespace live::api
