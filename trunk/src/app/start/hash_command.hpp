// `srs hash`: prints the text of a password for user {} in the conf.
#pragma once

#include <istream>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::app {

struct HashCommand {
    static constexpr std::string_view kName = "hash";
};

// Reads the password, a line, from `input`: an argument would be visible to others. `arguments` are those after "hash".
// Errc::malformed with a sentence for the operator.
Result<std::string> hash_password(std::span<const std::string_view> arguments, std::istream& input);

std::string hash_help(std::string_view program);

}  // namespace live::app
