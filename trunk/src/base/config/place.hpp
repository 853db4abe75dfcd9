// The file, line and column of a configuration word, for error sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::config {

struct Place {
    // The path as given, or "environment variable SRS_...".
    std::string file;
    // From 1; 0: not available (an environment variable).
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    // "conf/srs.conf:12:5", or only the file.
    std::string text() const;
    // "conf/srs.conf:12:5: <sentence> (line 12)". Tools of the SRS family look for the words "line <n>".
    std::string sentence(std::string_view what) const;
    // sentence() as an Errc::malformed error.
    Error error(std::string_view what, SourceLocation where = SourceLocation::current()) const;
};

}  // namespace live::config
