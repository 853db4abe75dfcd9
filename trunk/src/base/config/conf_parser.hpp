// The grammar of the conf file: parses directives, blocks, comments and includes into a tree. It gives a meaning to one name
// only, `include`.
//
//   file       := { directive | include | comment }
//   directive  := name { arg } ( ";" | "{" { directive | include | comment } "}" )
//   include    := "include" path { path } ";"
//   comment    := "#" up to the end of the line
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/config/directive.hpp"
#include "base/result.hpp"

namespace live::config {

// Returns the text of a file, or an error. The path is passed as written, so a relative path is relative to the working
// directory, not to the folder of the including file.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

struct ParseLimits {
    std::size_t depth_max = 64;          // nested blocks
    std::size_t include_depth_max = 16;  // nested includes; catches a file that includes itself
    std::size_t include_count_max = 256;
    std::size_t file_bytes_max = 1 << 20;
    std::size_t total_bytes_max = 16 << 20;
    std::size_t directives_max = 200'000;
};

// Returns the root: a nameless block whose children are the file's directives. Errors carry file, line, column, what was found
// and what was expected. Errc::limit for a bound, Errc::malformed for invalid text, and the reader's code for a file that cannot
// be read.
Result<Directive> parse_conf(const std::string& path, const ReadFile& read_file, const ParseLimits& limits = {});

}  // namespace live::config
