// Media types of files by extension.
#pragma once

#include <string_view>

namespace live::session::http {

// "text/html" for "a/b.html"; "application/octet-stream" for an unknown extension. Case does not matter.
std::string_view mime_of(std::string_view path);
// Pages, scripts, playlists: content that changes under the same name, so that caches must revalidate it.
bool is_changing(std::string_view path);

}  // namespace live::session::http
