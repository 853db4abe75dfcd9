// Short random names for sessions, servers and services: letters and digits in lower case, easy to grep for.
#pragma once

#include <cstddef>
#include <string>

namespace live {

// `length` characters of [0-9a-z], from the system's random source. Not a secret: the alphabet is small and the text is logged.
std::string random_id(std::size_t length = 8);

}  // namespace live
