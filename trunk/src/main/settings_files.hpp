// SettingsFiles: which folder a request's file is in, from the settings tree: the http_static of its virtual host, else
// http_server.dir.
#pragma once

#include <optional>
#include <string>

#include "main/settings.hpp"
#include "session/http/static_handler.hpp"

namespace live::main_ {

class SettingsFiles final : public session::http::FileRoots {
public:
    // Outlives this, or is replaced by set_settings() before it goes.
    explicit SettingsFiles(const Settings& settings) : settings_(&settings) {}
    void set_settings(const Settings& settings) { settings_ = &settings; }

    std::optional<session::http::FilePlace> find(const session::http::Request& request) const override;

private:
    const Settings* settings_;
};

}  // namespace live::main_
