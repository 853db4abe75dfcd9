#include "app/vhosts/mounts.hpp"

#include <utility>

#include "service/admission/vhost_rules.hpp"

namespace live::app {

namespace {

using settings::Vhost;

namespace http_live = session::http_live;

}  // namespace

void Mounts::refresh() const {
    if (std::exchange(version_, settings_.version()) == settings_.version())
        return;
    entries_.clear();
    for (const Vhost& vhost : settings_->vhosts) {
        if (!vhost.enabled || !vhost.http_remux.enabled)
            continue;
        // The settings check has refused unreadable mounts.
        if (auto mount = http_live::Mount::parse(vhost.http_remux.mount); mount.ok())
            entries_.push_back({&vhost, *std::move(mount)});
    }
}

std::optional<http_live::MountedUrl> Mounts::find(const session::http::Request& request) const {
    refresh();
    const std::string host = request.stream_vhost();
    const Vhost* asked = settings_->find_vhost(host);
    for (const Entry& entry : entries_)
        if (entry.vhost == asked)
            if (auto found = match(entry, host, request.path()))
                return found;
    for (const Entry& entry : entries_)
        if (!entry.mount.is_of_vhost() && entry.vhost != asked)
            if (auto found = match(entry, entry.vhost->name, request.path()))
                return found;
    return std::nullopt;
}

std::optional<http_live::MountedUrl> Mounts::match(const Entry& entry, const std::string& vhost, std::string_view path) const {
    auto stream = entry.mount.match(path);
    if (!stream)
        return std::nullopt;
    if (!stream->same_depth) {
        const auto source = streams_.find(service::admission::stream_url(entry.vhost->name, stream->app, stream->stream));
        if (!source || !source->is_published())
            return std::nullopt;
    }
    return http_live::MountedUrl{vhost, *std::move(stream), entry.mount, entry.vhost->http_remux};
}

}  // namespace live::app
