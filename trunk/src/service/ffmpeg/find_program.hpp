// The program of a child process: the configured one, or ffmpeg from PATH where the default path has none.
#pragma once

#include <string>

#include <unistd.h>

#include "service/ffmpeg/arguments.hpp"

namespace live::service::ffmpeg {

inline std::string find_program(const std::string& configured) {
    return choose_program(configured, ::access(configured.c_str(), X_OK) == 0);
}

}  // namespace live::service::ffmpeg
