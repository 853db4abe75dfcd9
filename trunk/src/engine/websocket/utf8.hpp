// Checks whether text is valid UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string_view>

namespace live::engine::websocket {

bool is_utf8(std::string_view text);

}  // namespace live::engine::websocket
