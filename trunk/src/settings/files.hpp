// Files: the folder of a requested file, from the settings tree: the http_static of its virtual host, otherwise http_server.dir.
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

private:
    const CurrentSettings& settings_;
};

}  // namespace live::settings
