// HlsFragments: sends the callbacks about HLS fragments, by the settings of their virtual host.
#pragma once

#include <string>
#include <utility>

#include "service/hls/stream_output.hpp"
#include "service/hooks/hook_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class HlsFragments final : public service::hls::HlsEvents {
public:
    // The references must outlive this. `folder` is the working folder of the process.
    HlsFragments(const settings::CurrentSettings& settings, service::hooks::HookService& hooks, std::string folder)
        : settings_(settings), hooks_(hooks), folder_(std::move(folder)) {}

    void on_fragment(const service::hls::FragmentEvent& event) override;

private:
    const settings::CurrentSettings& settings_;
    service::hooks::HookService& hooks_;
    const std::string folder_;
};

}  // namespace live::app
