// Builds the arguments of an ffmpeg call from options. Pure: no clock, no file, no shell; every word is one argument of the child
// process, so no name or URL can become a command.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "service/ffmpeg/options.hpp"

namespace live::service::ffmpeg {

// Appends "-name value" or "-name" for each entry.
void append_options(std::vector<std::string>& arguments, const Arguments& options);
// Appends the arguments between input and output: filters, encoders and the output format. Copies both tracks when the engine is
// off or names no encoder; a track without an encoder is copied.
void append_engine(std::vector<std::string>& arguments, const EngineOptions& engine);

// The default path of ffmpeg.
inline constexpr std::string_view kConventionalProgram = "./objs/ffmpeg/bin/ffmpeg";
// The program to start: as configured; but "ffmpeg" from PATH when that is the default path (or nothing) and `is_there` is false.
std::string choose_program(std::string_view configured, bool is_there);

// `text` with everything but [0-9A-Za-z_.-] replaced by '_' and no leading dot: a part of a file name. Never empty.
std::string as_file_name(std::string_view text);
// "<folder>/ffmpeg-<name>-<name>….log" of as_file_name(); empty for no folder and for /dev/null.
std::string child_log_path(std::string_view folder, std::initializer_list<std::string_view> names);
// Whether a part of the path is "..": variables must not lead out of the folder that the operator has configured.
bool has_parent_folder(std::string_view path);

}  // namespace live::service::ffmpeg
