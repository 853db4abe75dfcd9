#include "app/start/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/version.hpp"

namespace live::app {

namespace {

std::string variable(const config::Environment& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
}

struct Parsed {
    CommandLine line;
    // Letters that end the process at once: what follows is ignored.
    bool is_final = false;
};

Parsed final_action(Action action) { return {{action, "", false}, true}; }

// One token without its dashes. `next` is the following token; `took_next` reports that it was the value of -c.
Result<Parsed> parse_letters(std::string_view letters, const std::string_view* next, bool& took_next, Parsed so_far) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
        switch (letters[i]) {
            case 'c': {
                const std::string_view rest = letters.substr(i + 1);
                if (rest.empty() && (next == nullptr || next->empty()))
                    return Error(Errc::malformed, "found no file after -c, expected a conf file such as -c conf/srs.conf");
                took_next = rest.empty();
                so_far.line.conf_file = rest.empty() ? *next : rest;
                return so_far;
            }
            case 't': so_far.line.action = Action::test; break;
            case 'e': so_far.line.env_only = true; break;
            case 'v':
            case 'V': return final_action(Action::version);
            case 'g':
            case 'G': return final_action(Action::signature);
            case 'h':
            case '?': return final_action(Action::help);
            default:
                return Error(Errc::malformed, fmt::format("found the option \"{}\" in \"{}\", expected one of -c -e -t -v -g -h",
                                                          letters[i], letters));
        }
    }
    return so_far;
}

}  // namespace

Result<CommandLine> parse_command_line(std::span<const std::string_view> arguments, const config::Environment& environment) {
    const std::string file_variable = variable(environment, "SRS_CONFIG_FILE");
    const bool env_only_variable = !variable(environment, "SRS_ENV_ONLY").empty();
    if (arguments.empty() && file_variable.empty() && !env_only_variable)
        return CommandLine{};
    Parsed parsed;
    parsed.line.action = Action::run;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view token = arguments[i];
        if (!token.starts_with('-'))
            return final_action(Action::help).line;
        const std::size_t letters = std::min(token.find_first_not_of('-'), token.size());
        bool took_next = false;
        parsed = TRY(parse_letters(token.substr(letters), i + 1 < arguments.size() ? &arguments[i + 1] : nullptr, took_next,
                                   std::move(parsed)));
        if (parsed.is_final)
            return parsed.line;
        if (took_next)
            ++i;
    }
    if (!file_variable.empty())
        parsed.line.conf_file = file_variable;
    parsed.line.started_by = supervisor::started_by(environment);
    parsed.line.env_only = parsed.line.env_only || env_only_variable;
    if (parsed.line.conf_file.empty() && !parsed.line.env_only)
        return Error(Errc::malformed,
                     "config file not specified; use -c <file>, -e, or the environment variable SRS_CONFIG_FILE");
    return std::move(parsed.line);
}

Result<CommandLine> parse_conf_file(std::string_view file, const config::Environment& environment) {
    std::vector<std::string_view> arguments;
    if (!file.empty())
        arguments = {"-c", file};
    auto line = TRY(parse_command_line(arguments, environment));
    if (line.action != Action::run)
        return Error(Errc::malformed, "expected the conf file of the server: -c FILE");
    return line;
}

Result<std::string_view> value_behind(std::span<const std::string_view> arguments, std::size_t& at) {
    if (at + 1 >= arguments.size())
        return Error(Errc::malformed, fmt::format("found nothing after {}, expected a value", arguments[at]));
    return arguments[++at];
}

std::string help_text(std::string_view program) {
    return fmt::format(
        "Millrace, {1}: {2}\n"
        "\n"
        "Usage: {0} <-c FILE | -e> [-t]\n"
        "       {0} <-v | -g | -h>\n"
        "       {0} token -c FILE --publish PATH      prints a token; {0} token lists its options\n"
        "\n"
        "Options:\n"
        "   -c FILE        run with this conf file; SRS_CONFIG_FILE in the environment wins\n"
        "   -e             run without a conf file, with SRS_* environment variables only\n"
        "   -t             test the conf file and exit\n"
        "   -v, -V         print the version and exit\n"
        "   -g, -G         print the signature and exit\n"
        "   -h, -?         print this help and exit\n"
        "\n"
        "Every directive of the conf file has an environment variable: SRS_MAX_CONNECTIONS, SRS_VHOST_PLAY_GOP_CACHE, ...\n"
        "\n"
        "Signals:\n"
        "   reload the conf file      SIGHUP     killall -1 srs\n"
        "   reopen the log file       SIGUSR1    killall -10 srs\n"
        "   stop fast                 SIGTERM    killall -15 srs, or SIGINT: killall -2 srs\n"
        "   stop gracefully           SIGQUIT    killall -3 srs\n"
        "   start the new program     SIGUSR2    killall -12 srs\n"
        "\n"
        "For example:\n"
        "   {0} -v\n"
        "   {0} -t -c conf/srs.conf\n"
        "   {0} -c conf/srs.conf\n"
        "   env SRS_LISTEN=1935 {0} -e\n",
        program, kSignature, kDescription);
}

}  // namespace live::app
