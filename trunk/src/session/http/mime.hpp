// What kind of thing a file is, by the ending of its name.
#pragma once

#include <string_view>

namespace live::session::http {

// "text/html" for "a/b.html"; "application/octet-stream" for an ending that is not known. Case does not matter.
std::string_view mime_of(std::string_view path);
// Pages, scripts, lists of segments: what changes under the same name, so that a copy is asked for again before it is used.
bool is_changing(std::string_view path);

}  // namespace live::session::http
