#include "service/files/normal_path.hpp"

#include <algorithm>
#include <filesystem>

namespace live::service::files {

namespace fs = std::filesystem;

std::string normal_path(const std::string& folder, std::string_view path) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    return (fs::path(folder.empty() ? "." : folder) / fs::path(path)).lexically_normal().generic_string();
}

}  // namespace live::service::files
