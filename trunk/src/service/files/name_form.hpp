// fits_form: whether a file may have been named by an operator's template ("[app]/[stream]-[seq].ts"), for streams of any name
// and at any time. Pure; takes time in proportion to the path and to the number of variables.
#pragma once

#include <string_view>

namespace live::service::files {

// Variables are as in replace_variables() and in the outputs: names of streams, numbers, parts of the time. Before the extension
// there may be what the outputs insert there: the track, the part, the number of an initialization section.
bool fits_form(std::string_view form, std::string_view path);

}  // namespace live::service::files
