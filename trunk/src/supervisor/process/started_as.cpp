#include "supervisor/process/started_as.hpp"

#include <array>
#include <cstddef>

#include <fcntl.h>
#include <unistd.h>

namespace live::supervisor {

namespace {

std::vector<std::string> own_arguments() {
    std::vector<std::string> arguments;
    const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return arguments;
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t count = 0; (count = ::read(file, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(count));
    ::close(file);
    for (std::size_t at = 0; at < text.size(); at += arguments.back().size() + 1)
        arguments.emplace_back(text.c_str() + at);
    return arguments;
}

}  // namespace

StartedAs started_as() { return {own_arguments(), ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)}; }

Result<io::ChildOptions> child_options(const StartedAs& started) {
    if (started.arguments.empty())
        return Error(Errc::system, "the command line of this process is unknown: is /proc mounted?");
    io::ChildOptions options;
    options.arguments = started.arguments;
    options.inherits_output = true;
    options.folder = started.folder;
    return options;
}

}  // namespace live::supervisor
