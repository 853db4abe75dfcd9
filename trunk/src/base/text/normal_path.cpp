#include "base/text/normal_path.hpp"

#include <algorithm>

namespace live {

namespace {

constexpr std::string_view kUp = "..";

// Removes the last component of `out`, which ends with a slash. False when there is none to remove.
bool go_up(std::string& out) {
    if (out.empty() || out == "/" || out == "../" || out.ends_with("/../"))
        return false;
    out.pop_back();
    const std::size_t slash = out.rfind('/');
    out.resize(slash == std::string::npos ? 0 : slash + 1);
    return true;
}

// Appends the components of `path`, each followed by a slash; the last one only if it has one.
void append_names(std::string& out, std::string_view path) {
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const std::string_view name = path.substr(0, end);
        const bool is_last = end == path.size();
        path.remove_prefix(std::min(end + 1, path.size()));
        if (name.empty() || name == ".")
            continue;
        if (name == kUp && (go_up(out) || out == "/"))
            continue;
        out += name;
        if (!is_last || name == kUp)
            out += '/';
    }
}

}  // namespace

std::string normal_path(const std::string& folder, std::string_view path) {
    std::string out;
    out.reserve(folder.size() + path.size() + 2);
    if (folder.starts_with('/'))
        out += '/';
    append_names(out, folder);
    if (!out.empty() && !out.ends_with('/'))
        out += '/';
    append_names(out, path);
    // The standard spelling has no slash after a trailing "..", and names the working directory.
    if (out == "../" || out.ends_with("/../"))
        out.pop_back();
    return out.empty() ? "." : out;
}

}  // namespace live
