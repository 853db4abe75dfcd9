// One spelling for paths, so that two names of one file compare equal. Pure: does not access the disk.
#pragma once

#include <string>
#include <string_view>

namespace live {

// `path` below `folder`, with or without a leading slash; an empty folder is the working directory.
std::string normal_path(const std::string& folder, std::string_view path);

}  // namespace live
