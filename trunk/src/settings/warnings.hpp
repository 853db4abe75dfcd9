// What the settings allow and an operator should know: each a sentence for the log.
#pragma once

#include <string>
#include <vector>

#include "settings/tree.hpp"

namespace live::settings {

std::vector<std::string> settings_warnings(const Settings& settings);

}  // namespace live::settings
