// SettingsHls: what HLS asks of the settings tree: which virtual host's options serve a request, and whom to tell of a fragment.
#pragma once

#include <string>

#include "main/settings.hpp"
#include "service/hls/hls_handler.hpp"
#include "service/hls/stream_output.hpp"
#include "service/hooks/hook_service.hpp"

namespace live::main_ {

class SettingsHls final : public service::hls::HlsVhosts, public service::hls::HlsEvents {
public:
    // Outlives this, or is replaced by set_settings() before it goes.
    explicit SettingsHls(const Settings& settings) : settings_(&settings) {}
    void set_settings(const Settings& settings) { settings_ = &settings; }
    // Before any fragment. Without, nobody is called. `folder` is the working folder of the process.
    void set_hooks(service::hooks::HookService& hooks, std::string folder);

    const service::hls::HlsOptions* find(const session::http::Request& request) const override;
    void on_fragment(const service::hls::FragmentNews& news) override;

private:
    const Settings* settings_;
    service::hooks::HookService* hooks_ = nullptr;
    std::string folder_;
};

}  // namespace live::main_
