// One ingest {} block: an ffmpeg child process that reads a file or a remote stream and publishes it here, or a pull that this
// server makes itself. Plain values with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config/option_check.hpp"
#include "service/ffmpeg/options.hpp"
#include "session/rtsp/pull/pull_options.hpp"

namespace live::service::ingest {

enum class InputType : std::uint8_t {
    file,    // read at its own pace (-re), restarted at its end
    stream,  // a live URL
};

struct IngestOptions {
    // The word after `ingest`; unique in its virtual host.
    std::string id;
    bool enabled = false;
    InputType input_type = InputType::file;
    std::string input_url;
    // The rest of input {} is ours, for inputs that this server pulls itself.
    session::rtsp::PullOptions::Transport transport = session::rtsp::PullOptions::Transport::automatic;
    bool any_port = false;
    bool all_tracks = false;
    std::uint16_t rtp_port_min = 0;
    std::uint16_t rtp_port_max = 0;
    bool tls_verify = true;
    bool on_demand = false;
    // The program's path.
    std::string ffmpeg;
    // One child per engine; an engine that is disabled or has no codec copies.
    std::vector<ffmpeg::EngineOptions> engines;
};

// An ingest of which no engine can run is broken; the service leaves out single engines that cannot.
config::Findings check_ingest_options(const std::vector<IngestOptions>& ingests, const config::CheckContext& around);
inline constexpr config::OptionCheck<std::vector<IngestOptions>> kIngestCheck{check_ingest_options};

}  // namespace live::service::ingest
