// Builds the command of an exec block from its words. Pure: no clock, no file, no shell; every word is one argument of the child
// process, so no name or URL can become a command, an option or a redirection.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/text/variables.hpp"
#include "session/common/admission.hpp"

namespace live::service::exec {

struct Command {
    // The program and its arguments.
    std::vector<std::string> arguments;
    // Files that the output and the errors are appended to; empty: discarded.
    std::string output_path{};
    std::string error_path{};
};

// The values of [vhost], [port], [app], [stream], [tcUrl], [swfUrl], [pageUrl], and [url], at which the command can play the
// stream from this server's RTMP port.
Variables variables_of(const session::ClientRequest& publisher, const std::string& vhost, std::uint16_t rtmp_port);

// Replaces variables and takes the redirections out: ">FILE" and "1>FILE" for the output, "2>FILE" for the errors, "2>&1" for
// both in one file; the file may be the next word. Errc::malformed: no program, or a redirection without a file. Errc::denied: a
// value would turn an argument into an option ("-"), or lead out of a folder ("..").
Result<Command> build_command(const std::vector<std::string>& words, const Variables& variables);

}  // namespace live::service::exec
