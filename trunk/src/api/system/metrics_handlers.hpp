// /metrics and other endpoints for monitoring systems: totals for Prometheus, series for single streams (bounded, and only on
// request), and whether this server is alive and ready for clients.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/common/endpoints.hpp"
#include "api/common/server_info.hpp"
#include "api/system/system_sampler.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "service/service_list.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/common/protocol.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/http/handler.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::api {

// The counting objects. All must outlive the handlers.
struct Measured {
    const ServerInfo& server;
    const SystemSampler& sampler;
    const ServerCounters& counters;
    const service::stats::StreamStats& stream_stats;
    const session::FanOutCounters& fan_out;
    const session::Protocols& protocols;
    const session::ConnectionLimits& places;
    const media::AudioTranscoders& transcoders;
    const service::ServiceList& services;
};

// exporter {}.
struct ExporterSettings {
    bool enabled = false;
    std::string label;
    std::string tag;
    std::size_t streams_max = 0;  // streams that have series in /metrics
};

class MetricsHandler final : public session::http::Handler {
public:
    MetricsHandler(const Measured& measured, const ExporterSettings& settings) : measured_(measured), settings_(settings) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const Measured measured_;
    const ExporterSettings settings_;
};

// ?match=PATTERN selects streams by URL, '*' matches anything; without it, all streams.
class StreamMetricsHandler final : public session::http::Handler {
public:
    // Limit of streams per response, which reports how many more there were.
    static constexpr std::size_t kStreamsMax = 1000;
    static constexpr std::size_t kPatternBytesMax = 256;

    StreamMetricsHandler(const Measured& measured, const ExporterSettings& settings) : measured_(measured), settings_(settings) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const Measured measured_;
    const ExporterSettings settings_;
};

// '*' matches any characters, including none; everything else matches itself.
bool matches(std::string_view pattern, std::string_view text);

// app implements it.
class Readiness {
public:
    virtual ~Readiness() = default;
    // Every listener is open, and nothing is stopping. Must not suspend.
    virtual bool is_ready() const = 0;
};

// Responds as long as the loop runs.
class HealthHandler final : public session::http::Handler {
public:
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
};

class ReadyHandler final : public session::http::Handler {
public:
    explicit ReadyHandler(const Readiness& readiness) : readiness_(readiness) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const Readiness& readiness_;
};

// Adds the endpoints of all four, for Prometheus and for other workers. Everything in `measured`, and `readiness`, must outlive
// them.
void add_metrics(Endpoints& endpoints, const Measured& measured, const Readiness& readiness, const ExporterSettings& settings);

}  // namespace live::api
