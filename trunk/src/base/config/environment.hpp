// The process environment as a value, so that no code below main reads the real one.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace live::config {

using Environment = std::map<std::string, std::string, std::less<>>;

// A copy of the process environment.
Environment process_environment();

}  // namespace live::config
