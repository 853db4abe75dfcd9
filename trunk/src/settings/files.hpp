// Files: the folder of a requested file, from the settings tree: the http_static of its virtual host, otherwise http_server.dir.
// And who may have it, where it is named as HLS and DASH name theirs: a killed process leaves files, and so do some settings.
#pragma once

#include <optional>
#include <string>

#include "session/http/static_handler.hpp"
#include "settings/current_settings.hpp"

namespace live::settings {

class Files final : public session::http::FileRoots {
public:
    // `settings` outlives this.
    explicit Files(const CurrentSettings& settings) : settings_(settings) {}

    std::optional<session::http::FilePlace> find(const session::http::Request& request) const override;
    // `security` of the virtual hosts that may have made the file as HLS or DASH. A playlist or an MPD that only others than the
    // requested one make does not exist for it. Errc::denied, Errc::not_found.
    Result<void> check(const session::http::Request& request, const session::http::FilePlace& place) const override;

private:
    const CurrentSettings& settings_;
};

}  // namespace live::settings
