// The form of every API response: server, code, and one value. JSON as text, so that no header needs the library.
#pragma once

#include <string>
#include <string_view>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// {"code":0,"server":...,"service":...,"pid":...,"<key>":<value>}; `value` must be JSON text.
std::string envelope(const ServerInfo& server, std::string_view key, std::string_view value);
// The same without a value.
std::string envelope(const ServerInfo& server);

// The method of the request; HEAD counts as GET.
std::string_view method_of(const session::http::Request& request);

// Wraps `json` as a script for a page of another origin when a GET has callback=NAME and JSONP is on; otherwise callback= is
// ignored. Names are 1 to kCallbackBytesMax of [0-9A-Za-z_.$]; another name is a 400.
inline constexpr std::size_t kCallbackBytesMax = 64;
session::http::Reply json_reply(const session::http::Request& request, std::string json);

}  // namespace live::api
