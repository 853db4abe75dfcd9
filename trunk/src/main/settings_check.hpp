// What must hold between options, after rows have checked each one alone.
#pragma once

#include "main/settings.hpp"

namespace live::main_ {

// The first rule that is broken, or nothing. `input` says what is known about the machine.
Result<void> check_settings(const Settings& settings, const LoadInput& input);

}  // namespace live::main_
