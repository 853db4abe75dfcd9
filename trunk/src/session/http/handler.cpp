#include "session/http/handler.hpp"

#include <fmt/format.h>

namespace live::session::http {

Reply error_reply(int status, std::string_view sentence) {
    return {status, "application/json", fmt::format("{{\"code\":{},\"message\":\"{}\"}}\n", status, sentence), {}};
}

}  // namespace live::session::http
