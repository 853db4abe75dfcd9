#include "supervisor/process/container.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace live::supervisor {

namespace {

// A machine that runs hundreds of containers has long mount lists; the mounts of / and of /etc come early.
constexpr std::size_t kTextMax = 256 * 1024;

// Parts of the cgroup path that container runtimes give to process 1. On a host it is /, or /init.scope.
constexpr std::array<std::string_view, 8> kCgroupWords{"docker", "kubepods", "containerd", "libpod",
                                                       "crio-",  "/lxc",     "/ecs/",      "garden"};

// Folders from which runtimes mount into a container. The host has such mounts too, but neither at / nor at these files.
constexpr std::array<std::string_view, 6> kStores{
    "/docker/", "/containerd/", "/containers/storage/", "/overlay-containers/", "/kubelet/pods/", "/io.containerd."};
constexpr std::array<std::string_view, 3> kGivenFiles{"/etc/hostname", "/etc/hosts", "/etc/resolv.conf"};

// Removes the text up to the separator from `rest` and returns it.
std::string_view take(std::string_view& rest, char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return part;
}

template <std::size_t N>
std::string_view first_word_in(std::string_view text, const std::array<std::string_view, N>& words) {
    const auto* found = std::find_if(words.begin(), words.end(),
                                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
    return found == words.end() ? std::string_view() : *found;
}

// `hierarchy:controllers:path`; the controllers are no sign of a container.
std::string_view sign_of_cgroups(std::string_view text) {
    while (!text.empty()) {
        std::string_view path = take(text, '\n');
        take(path, ':');
        take(path, ':');
        if (const std::string_view word = first_word_in(path, kCgroupWords); !word.empty())
            return word;
    }
    return {};
}

// `id parent device root mount-point options ... - type source super-options`.
std::string_view sign_of_mounts(std::string_view text) {
    while (!text.empty()) {
        std::string_view rest = take(text, '\n');
        for (int field = 0; field < 3; ++field)
            take(rest, ' ');
        const std::string_view root = take(rest, ' ');
        const std::string_view point = take(rest, ' ');
        const bool is_given = std::find(kGivenFiles.begin(), kGivenFiles.end(), point) != kGivenFiles.end();
        if ((point == "/" && !first_word_in(rest, kStores).empty()) || (is_given && !first_word_in(root, kStores).empty()))
            return point;
    }
    return {};
}

std::string text_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(kTextMax, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

bool is_there(const char* path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

ContainerSigns signs_seen_here() {
    return {text_of("/proc/1/cgroup"),      text_of("/proc/self/mountinfo"), is_there("/.dockerenv"),
            is_there("/run/.containerenv"), variable("container"),           variable("KUBERNETES_SERVICE_HOST")};
}

std::string container_sign(const ContainerSigns& signs) {
    if (signs.has_dockerenv)
        return "/.dockerenv";
    if (signs.has_containerenv)
        return "/run/.containerenv";
    if (!signs.container.empty())
        return "the variable container";
    if (!signs.kubernetes_host.empty())
        return "the variable KUBERNETES_SERVICE_HOST";
    if (const std::string_view word = sign_of_cgroups(signs.init_cgroup); !word.empty())
        return fmt::format("the cgroup of process 1: {}", word);
    if (const std::string_view point = sign_of_mounts(signs.mounts); !point.empty())
        return fmt::format("what is mounted at {}", point);
    return {};
}

}  // namespace live::supervisor
