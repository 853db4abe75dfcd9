// IngestFacts: the state of one ingest, for the API and the metrics.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "session/common/traffic.hpp"

namespace live::service::ingest {

enum class IngestState : std::uint8_t {
    idle,        // on demand, and nobody watches
    connecting,  // without media yet
    running,
    waiting,  // for the next attempt
};
inline constexpr std::array kIngestStates = {IngestState::idle, IngestState::connecting, IngestState::running,
                                             IngestState::waiting};
constexpr std::string_view name_of(IngestState state) {
    switch (state) {
        case IngestState::idle: return "idle";
        case IngestState::connecting: return "connecting";
        case IngestState::running: return "running";
        case IngestState::waiting: return "waiting";
    }
    return "";
}

struct IngestFacts {
    std::string vhost{};
    std::string id{};
    std::string stream_url{};  // empty if the output is no stream of this server
    std::string input{};       // without secrets
    bool is_native = false;    // pulled by this server itself, without ffmpeg
    bool is_on_demand = false;
    std::string tracks{};  // the codecs of the published stream

    IngestState state = IngestState::connecting;
    TimePoint since{};            // of the state
    session::PullFigures link{};  // of the current connection; packets and bytes of all of them
    std::uint64_t restarts = 0;
    std::string last_error{};
    std::optional<TimePoint> next_attempt{};
    std::optional<int> pid{};  // of ffmpeg
};

}  // namespace live::service::ingest
