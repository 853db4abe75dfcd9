// How every JSON value of ours becomes text. A template, so that this header does not need the library.
#pragma once

#include <string>

namespace live {

// Names come from streams and conf files in any encoding: without exceptions the library would end the process on text that is
// no UTF-8, were it not replaced.
template <class Json>
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace live
