#include "settings/conf/whole_path.hpp"

#include <filesystem>
#include <system_error>

#include "base/text/normal_path.hpp"

namespace live::settings {

std::string whole_path(const std::string& folder, std::string_view path) {
    const std::string below = normal_path(folder, path);
    std::error_code ignored;
    return below.starts_with('/') ? below : normal_path(std::filesystem::current_path(ignored).string(), below);
}

std::string whole_folder(const std::string& folder) {
    std::string path = whole_path(folder, "");
    return path.ends_with('/') ? path : path + "/";
}

}  // namespace live::settings
