#include "io/process/process_usage.hpp"

#include <array>
#include <charconv>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace live::io {

std::optional<ProcessUsage> read_process_stat(std::string_view text, long ticks_per_second, long page_bytes) {
    // The second field is the program's name in parentheses, which may contain any character.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos || ticks_per_second <= 0)
        return std::nullopt;
    constexpr std::size_t kUserTime = 14;
    constexpr std::size_t kSystemTime = 15;
    constexpr std::size_t kResident = 24;
    std::uint64_t ticks = 0;
    std::string_view rest = text.substr(name_end + 1);
    for (std::size_t field = 3; field <= kResident; ++field) {
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (word.empty())
            return std::nullopt;
        rest.remove_prefix(word.size());
        std::uint64_t value = 0;
        std::from_chars(word.data(), word.data() + word.size(), value);
        if (field == kUserTime || field == kSystemTime)
            ticks += value;
        if (field == kResident)
            return ProcessUsage{static_cast<double>(ticks) / static_cast<double>(ticks_per_second),
                                value * static_cast<std::uint64_t>(page_bytes)};
    }
    return std::nullopt;
}

std::optional<ProcessUsage> usage_of(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return std::nullopt;
    std::array<char, 1024> text{};
    const ssize_t count = ::read(file, text.data(), text.size());
    ::close(file);
    if (count <= 0)
        return std::nullopt;
    return read_process_stat({text.data(), static_cast<std::size_t>(count)}, ::sysconf(_SC_CLK_TCK), ::sysconf(_SC_PAGESIZE));
}

}  // namespace live::io
