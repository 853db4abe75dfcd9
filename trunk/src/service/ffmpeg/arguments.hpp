// From options to the words of an ffmpeg call. Pure: no clock, no file, no shell; every word is one argument of the child, so
// nothing in a name or a URL can become a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/ffmpeg/options.hpp"

namespace live::service::ffmpeg {

// Appends "-name value" or "-name" for each entry.
void append_options(std::vector<std::string>& arguments, const Arguments& options);
// Appends what stands between the input and the output: filters, encoders and the output's format. Copies both tracks when the
// engine is off or names no encoder; a track without an encoder is copied.
void append_engine(std::vector<std::string>& arguments, const EngineOptions& engine);

// Where ffmpeg lies when nobody says otherwise.
inline constexpr std::string_view kConventionalProgram = "./objs/ffmpeg/bin/ffmpeg";
// What to start: as configured; but "ffmpeg" from PATH when that is the conventional place (or nothing) and `is_there` says no.
std::string choose_program(std::string_view configured, bool is_there);

// `text` with everything but [0-9A-Za-z_.-] replaced by '_' and no dot in front: a part of a file's name. Never empty.
std::string as_file_name(std::string_view text);

}  // namespace live::service::ffmpeg
