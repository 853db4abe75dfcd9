#include "app/start/server_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/bytes/random.hpp"

namespace live::app {

namespace {

constexpr std::string_view kPidEnding = ".pid";
constexpr std::size_t kRandomLetters = 7;

std::string beside(std::string_view pid_path, std::string_view ending) {
    if (pid_path.ends_with(kPidEnding))
        pid_path.remove_suffix(kPidEnding.size());
    return std::string(pid_path) + std::string(ending);
}

// The first line of the file if it is a valid id, otherwise empty.
std::string read_id(const std::string& path) {
    std::ifstream in(path);
    std::array<char, kServerIdMax + 2> line{};
    in.getline(line.data(), static_cast<std::streamsize>(line.size()));
    std::string id(line.data());
    while (!id.empty() && (id.back() == '\r' || id.back() == ' '))
        id.pop_back();
    const bool printable = std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7F; });
    return printable && id.size() <= kServerIdMax ? id : "";
}

}  // namespace

std::string server_id_path(std::string_view pid_path) { return beside(pid_path, ".id"); }

std::string open_recordings_path(std::string_view pid_path) { return beside(pid_path, ".dvr"); }

ServerId find_server_id(const std::string& configured, const std::string& pid_path) {
    if (!configured.empty())
        return {configured, ""};
    const std::string path = server_id_path(pid_path);
    if (std::string kept = read_id(path); !kept.empty())
        return {std::move(kept), ""};
    ServerId made{"vid-" + random_id(kRandomLetters), ""};
    std::ofstream out(path, std::ios::trunc);
    out << made.id << std::flush;
    if (!out.good())
        made.warning = fmt::format("cannot keep the server id in {}; the next start makes another", path);
    return made;
}

}  // namespace live::app
