#include "settings/files.hpp"

#include <string_view>

namespace live::settings {

namespace {

constexpr std::string_view kVhostMark = "[vhost]";

// "[vhost]/hls" is "/hls/".
std::string prefix_of(std::string_view mount) {
    if (mount.starts_with(kVhostMark))
        mount.remove_prefix(kVhostMark.size());
    std::string prefix(mount);
    if (!prefix.starts_with('/'))
        prefix.insert(0, 1, '/');
    if (!prefix.ends_with('/'))
        prefix += '/';
    return prefix;
}

std::optional<session::http::FilePlace> match(const Vhost& vhost, const std::string& path, const std::string& asked) {
    if (!vhost.enabled || !vhost.http_static.enabled)
        return std::nullopt;
    const std::string prefix = prefix_of(vhost.http_static.mount);
    if (!path.starts_with(prefix))
        return std::nullopt;
    return session::http::FilePlace{vhost.http_static.dir, path.substr(prefix.size()), asked};
}

}  // namespace

std::optional<session::http::FilePlace> Files::find(const session::http::Request& request) const {
    const Vhost* asked = settings_->find_vhost(request.vhost());
    const std::string name = asked == nullptr ? "" : asked->name;
    if (asked != nullptr)
        if (auto place = match(*asked, request.path(), name))
            return place;
    // A mount without [vhost] is on every host.
    for (const Vhost& vhost : settings_->vhosts)
        if (&vhost != asked && !vhost.http_static.mount.starts_with(kVhostMark))
            if (auto place = match(vhost, request.path(), name))
                return place;
    return session::http::FilePlace{settings_->http_server.dir, request.path(), name};
}

}  // namespace live::settings
