// Settings that are valid but worth a warning: each a sentence for the log.
#pragma once

#include <string>
#include <vector>

#include "settings/conf/tree.hpp"

namespace live::settings {

std::vector<std::string> settings_warnings(const Settings& settings);

}  // namespace live::settings
