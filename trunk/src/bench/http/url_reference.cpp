#include "bench/http/url_reference.hpp"

#include <algorithm>

namespace live::bench {
namespace {

// RFC 3986, 5.2.4, for a path that begins with '/'.
std::string without_dot_segments(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const auto end = std::min(path.find('/', 1), path.size());
        const std::string_view segment = path.substr(0, end);
        const bool is_last = end == path.size();
        if (segment == "/..") {
            out.erase(std::min(out.rfind('/'), out.size()));
            if (is_last)
                out += '/';
        } else if (segment == "/.") {
            if (is_last)
                out += '/';
        } else {
            out += segment;
        }
        path.remove_prefix(end);
    }
    return out;
}

}  // namespace

std::string resolve_reference(std::string_view base, std::string_view reference) {
    base = base.substr(0, std::min(base.find('#'), base.size()));
    const auto scheme_end = base.find("://");
    if (reference.substr(0, reference.find_first_of("/?#")).find(':') != std::string_view::npos ||
        scheme_end == std::string_view::npos)
        return std::string(reference);
    if (reference.starts_with("//"))
        return std::string(base.substr(0, scheme_end + 1)).append(reference);
    const auto path_begin = std::min(base.find_first_of("/?", scheme_end + 3), base.size());
    const std::string origin(base.substr(0, path_begin));
    std::string_view path = base.substr(path_begin);
    if (reference.empty())
        return std::string(base);
    path = path.substr(0, std::min(path.find('?'), path.size()));
    if (reference.starts_with('?'))
        return origin + std::string(path.empty() ? "/" : path).append(reference);
    const auto query_begin = std::min(reference.find('?'), reference.size());
    std::string joined;
    if (!reference.starts_with('/'))
        joined = path.empty() ? "/" : std::string(path.substr(0, path.rfind('/') + 1));
    joined += reference.substr(0, query_begin);
    return origin + without_dot_segments(joined).append(reference.substr(query_begin));
}

}  // namespace live::bench
