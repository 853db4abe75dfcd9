// One spelling for paths, so that two names of one file are equal texts. Pure: looks at no disk.
#pragma once

#include <string>
#include <string_view>

namespace live::service::files {

// `path` below `folder`, with or without a slash in front; an empty folder is the working one.
std::string normal_path(const std::string& folder, std::string_view path);

}  // namespace live::service::files
