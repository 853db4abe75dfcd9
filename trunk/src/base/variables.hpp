// Names with variables in brackets, as operators write them for files and outputs: "[app]/[stream]-[seq].ts". Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace live {

// Names without brackets and what stands in their place.
using Variables = std::vector<std::pair<std::string, std::string>>;

// Replaces "[name]" for every known name, once: a value that holds a bracket stays as it is. Unknown names stay. Of two with one
// name the later counts.
std::string replace_variables(std::string_view text, const Variables& variables);

enum class Zone : bool { local, utc };
// [2006] [01] [02] [15] [04] [05] [999] and [timestamp] (in milliseconds) of that moment.
Variables time_variables(std::chrono::system_clock::time_point now, Zone zone);

}  // namespace live
