// A stream as named in a request's path, and the template of file names that it comes from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace live::service::files {

struct StreamName {
    std::string vhost;
    std::string app;
    std::string stream;

    bool operator==(const StreamName&) const = default;
};

// Inverts a template with [vhost], [app], [stream], and numbers, which are ignored; none when the name does not match it.
std::optional<StreamName> match_name(std::string_view form, std::string_view name);

}  // namespace live::service::files
