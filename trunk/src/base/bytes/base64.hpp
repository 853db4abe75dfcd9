// Base64 as in RFC 4648, section 4: the standard alphabet, with padding.
#pragma once

#include <string>

#include "base/bytes/bytes.hpp"

namespace live {

std::string base64(Bytes bytes);

}  // namespace live
