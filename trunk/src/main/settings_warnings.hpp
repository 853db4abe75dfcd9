// What the settings allow and an operator should know: each a sentence for the log.
#pragma once

#include <string>
#include <vector>

#include "main/settings_tree.hpp"

namespace live::main_ {

std::vector<std::string> settings_warnings(const Settings& settings);

}  // namespace live::main_
