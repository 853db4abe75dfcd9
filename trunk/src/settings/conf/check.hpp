// Rules between options, checked after the rows have checked each option alone.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "settings/conf/tree.hpp"

namespace live::settings {

// The first broken rule, or success. `local_addresses` is how many addresses the machine has, 0 when unknown.
Result<void> check_settings(const Settings& settings, std::size_t local_addresses);

}  // namespace live::settings
