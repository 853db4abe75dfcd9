#include "api/system/conf_warnings_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"

namespace live::api {

session::http::Reply ConfWarningsHandler::handle(const session::http::Request& request, io::Deadline) {
    return json_reply(request, envelope(server_, "warnings", text_of(nlohmann::ordered_json(warnings_))));
}

}  // namespace live::api
