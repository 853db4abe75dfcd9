// Paths of the settings as absolute, normalized ones.
#pragma once

#include <string>
#include <string_view>

namespace live::settings {

std::string whole_path(const std::string& folder, std::string_view path);
// The same of a folder, with a slash at the end.
std::string whole_folder(const std::string& folder);

}  // namespace live::settings
