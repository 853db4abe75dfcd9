// Unpredictable bytes from the system's random source, and short random names for sessions, servers and services: lower-case
// letters and digits, easy to grep for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes/bytes.hpp"

namespace live {

void fill_random(MutBytes bytes);
std::uint64_t random_number();

// `length` characters of [0-9a-z]. Not a secret: the alphabet is small and the text is logged.
std::string random_id(std::size_t length = 8);

}  // namespace live
