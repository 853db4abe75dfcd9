// The rows of service/ingest/options.hpp.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "service/ffmpeg/option_rows.hpp"
#include "service/ingest/options.hpp"

namespace live::service::ingest {

inline constexpr std::array kInputTypeNames = {
    config::Named<InputType>{"file", InputType::file},
    config::Named<InputType>{"stream", InputType::stream},
};

using PullTransport = session::rtsp::PullOptions::Transport;
inline constexpr std::array kTransportNames = {
    config::Named<PullTransport>{"auto", PullTransport::automatic},
    config::Named<PullTransport>{"udp", PullTransport::udp},
    config::Named<PullTransport>{"tcp", PullTransport::tcp},
};

inline constexpr auto kInputRows = config::Rows{
    config::row(&IngestOptions::input_type, "type", kInputTypeNames, config::Reload::live,
                "file is read at its own pace and starts again at its end; stream is a live URL."),
    config::row(
        &IngestOptions::input_url, "url", config::Reload::live,
        "The file's path or the stream's URL. This server itself pulls rtsp://, rtsps:// and srt:// that are copied to it.")
        .example("./doc/source.flv"),
    config::row(&IngestOptions::transport, "transport", kTransportNames, config::Reload::live,
                "Ours, of rtsp://: auto asks for UDP, and after 3 s without a packet for media in the connection (tcp)."),
    config::row(&IngestOptions::any_port, "any_port", config::Reload::live,
                "Ours, of rtsp://: media over UDP may come from any port of the camera's address."),
    config::row(
        &IngestOptions::all_tracks, "all_tracks", config::Reload::live,
        "Ours, of rtsp://: on: all tracks, and data such as ONVIF metadata for RTSP players; off: one of audio and video."),
    config::row(&IngestOptions::rtp_port_min, "rtp_port_min", 0, 65'535, config::Reload::live,
                "Ours, of rtsp://: the first UDP port for media; each track takes two. 0: the system chooses."),
    config::row(&IngestOptions::rtp_port_max, "rtp_port_max", 0, 65'535, config::Reload::live,
                "Ours, of rtsp://: the last UDP port for media."),
    config::row(&IngestOptions::tls_verify, "tls_verify", config::Reload::live,
                "Ours, of rtsps://: off accepts any certificate; on: as tls_client says."),
    config::row(&IngestOptions::on_demand, "on_demand", config::Reload::live,
                "Ours, of inputs that this server pulls itself: from the first viewer until 10 s after the last."),
};

inline constexpr auto kIngestRows = config::Rows{
    config::row(&IngestOptions::enabled, "enabled", config::Reload::live, "Pulls this input in."),
    config::scope<IngestOptions>("input", kInputRows, "The input."),
    config::row(&IngestOptions::ffmpeg, "ffmpeg", config::Reload::live, "Path of the ffmpeg program.")
        .example("./objs/ffmpeg/bin/ffmpeg"),
    config::blocks(&IngestOptions::engines, "engine", &ffmpeg::EngineOptions::name, "name", ffmpeg::kEngineRows,
                   "How it is encoded and where it is published; without a codec it is copied."),
};

}  // namespace live::service::ingest
