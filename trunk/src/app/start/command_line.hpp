// Parses the command line and two environment variables. A pure function: it opens no file and prints nothing.
//
// Options are single letters; a token may contain several, and leading dashes are skipped, which is why --version and --help
// work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/config/environment.hpp"
#include "base/result.hpp"
#include "supervisor/line/start_variables.hpp"

namespace live::app {

enum class Action : std::uint8_t {
    run,
    test,       // -t: check the conf file and exit
    version,    // print live::kVersion
    signature,  // print live::kSignature
    help,       // print help_text()
};

struct CommandLine {
    Action action = Action::help;
    // -c, or SRS_CONFIG_FILE, which takes precedence.
    std::string conf_file;
    // -e or SRS_ENV_ONLY: no conf file.
    bool env_only = false;
    // Set by the process of this server that has started this one.
    supervisor::StartedBy started_by{};
};

// `arguments` are those after the program's name. Errc::malformed for an unknown letter, -c without a value, or no source of
// settings; the process exits with code 1023.
Result<CommandLine> parse_command_line(std::span<const std::string_view> arguments, const config::Environment& environment);

// For the commands that read the conf of the server: as with -c FILE alone; an empty name stands for no option. Errc::malformed.
Result<CommandLine> parse_conf_file(std::string_view file, const config::Environment& environment);
// The value behind the option at `at`, which moves there. Errc::malformed without one.
Result<std::string_view> value_behind(std::span<const std::string_view> arguments, std::size_t& at);

// Usage, options and examples of signals; ends with a newline.
std::string help_text(std::string_view program);

}  // namespace live::app
