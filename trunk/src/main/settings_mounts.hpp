// SettingsMounts: the HTTP live streams of all virtual hosts, from the settings tree.
#pragma once

#include <string>
#include <vector>

#include "main/settings.hpp"
#include "media/stream_table.hpp"
#include "session/flv/context.hpp"

namespace live::main_ {

class SettingsMounts final : public session::flv::Mounts {
public:
    // Both outlive this; `settings` or are replaced by set_settings() before they go.
    SettingsMounts(const Settings& settings, const media::StreamTable& streams) : streams_(streams) { set_settings(settings); }
    void set_settings(const Settings& settings);

    std::optional<session::flv::MountedUrl> find(const session::http::Request& request) const override;

private:
    struct Entry {
        const Vhost* vhost;
        session::flv::Mount mount;
    };

    std::optional<session::flv::MountedUrl> match(const Entry& entry, const std::string& vhost, std::string_view path) const;

    const media::StreamTable& streams_;
    const Settings* settings_ = nullptr;
    std::vector<Entry> entries_;
};

}  // namespace live::main_
