// References in playlists and redirects, to URLs (RFC 3986, 5.2).
#pragma once

#include <string>
#include <string_view>

namespace live::bench {

// The absolute URL of `reference` in a document with the absolute URL `base`: another URL, "//host/path", "/path", "name",
// "../name", "?query".
std::string resolve_reference(std::string_view base, std::string_view reference);

}  // namespace live::bench
