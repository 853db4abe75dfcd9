// Mounts: the HTTP live streams of all virtual hosts, from the settings tree.
#pragma once

#include <string>
#include <vector>

#include "media/source/stream_table.hpp"
#include "session/http_live/context.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Mounts final : public session::http_live::Mounts {
public:
    // Both must outlive this.
    Mounts(const settings::CurrentSettings& settings, const media::StreamTable& streams)
        : streams_(streams), settings_(settings) {}

    std::optional<session::http_live::MountedUrl> find(const session::http::Request& request) const override;

private:
    struct Entry {
        const settings::Vhost* vhost;
        session::http_live::Mount mount;
    };

    void refresh() const;
    std::optional<session::http_live::MountedUrl> match(const Entry& entry, const std::string& vhost,
                                                        std::string_view path) const;

    const media::StreamTable& streams_;
    const settings::CurrentSettings& settings_;
    // The mounts of the settings with this version.
    mutable std::vector<Entry> entries_;
    mutable std::uint64_t version_ = 0;
};

}  // namespace live::app
