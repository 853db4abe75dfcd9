// Expands bracketed variables in the names that operators configure for files and outputs: "[app]/[stream]-[seq].ts". Pure
// functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace live {

// Names without brackets, and their values.
using Variables = std::vector<std::pair<std::string, std::string>>;

// Replaces "[name]" for every known name in one pass: brackets in a value are not expanded. Unknown names are left unchanged.
// When a name occurs twice, the later value wins.
std::string replace_variables(std::string_view text, const Variables& variables);

enum class Zone : bool { local, utc };
// [2006] [01] [02] [15] [04] [05] [999] and [timestamp] (in milliseconds) for `now`.
Variables time_variables(std::chrono::system_clock::time_point now, Zone zone);

}  // namespace live
