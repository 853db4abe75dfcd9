// What must hold between options, after rows have checked each one alone.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "settings/tree.hpp"

namespace live::settings {

// The first rule that is broken, or nothing. `local_addresses` is how many the machine has, 0 when that is not known.
Result<void> check_settings(const Settings& settings, std::size_t local_addresses);

}  // namespace live::settings
