// Serialises our JSON values to text. A template, so that this header does not include the JSON library.
#pragma once

#include <string>

#include "base/text/printable.hpp"

namespace live {

// Names come from streams and conf files in any encoding. Invalid UTF-8 is replaced: built without exceptions, the library would
// otherwise abort the process. Control characters that JSON allows are escaped: people read JSON on terminals.
template <class Json>
std::string text_of(const Json& json) {
    return escape_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace live
