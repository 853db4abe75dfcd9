#include "service/heartbeat/heartbeat.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/log_format.hpp"
#include "io/loop.hpp"

namespace live::service::heartbeat {

std::string body_of(const HeartbeatOptions& options, const Facts& facts) {
    using Json = nlohmann::ordered_json;
    Json body;
    body["device_id"] = options.device_id;
    body["ip"] = facts.ip;
    body["server"] = facts.server_id;
    body["service"] = facts.service_id;
    body["pid"] = std::to_string(facts.process_id);
    if (options.summaries) {
        Json data = Json::parse(facts.summaries, nullptr, false);
        body["summaries"]["data"] = data.is_discarded() ? Json::object() : std::move(data);
    }
    if (options.ports) {
        body["rtmp"] = facts.rtmp;
        body["http"] = facts.http;
        body["api"] = facts.api;
        if (!facts.srt.empty())
            body["srt"] = facts.srt;
        if (!facts.rtc.empty())
            body["rtc"] = facts.rtc;
    }
    return text_of(body);
}

Heartbeat::Heartbeat(const http_client::HttpClient& client, const HeartbeatSource& source, Log log)
    : client_(client), source_(source), log_(std::move(log)) {}

Result<void> Heartbeat::start(io::Scope& fibers, io::Deadline) {
    return fibers.start("heartbeat", [this](io::Deadline forever) { run(forever); });
}

void Heartbeat::run(io::Deadline deadline) {
    for (;;) {
        const HeartbeatOptions options = source_.options();
        const TimePoint begin = io::now();
        if (options.enabled && !beat(options, deadline).ok())
            return;
        const auto pause = options.enabled ? io::Deadline::at(begin + options.interval) : io::Deadline::never();
        const auto waited = io::wait(changed_, deadline.sooner(pause));
        if (!waited.ok() && (waited.code() != Errc::timed_out || deadline.expired()))
            return;
    }
}

// Fails only when cancelled: an unreachable service is tried again.
Result<void> Heartbeat::beat(const HeartbeatOptions& options, io::Deadline deadline) {
    http_client::HttpCall call;
    call.url = options.url;
    call.headers.add("Content-Type", "application/json");
    if (options.auth.enabled)
        call.headers.add("Authorization", "Bearer " + options.auth.token);
    call.body = body_of(options, source_.facts());
    const auto answer = client_.call(call, deadline.sooner(io::Deadline::after(kCallLimit)));
    if (answer.ok()) {
        LOG_DEBUG(log_, "heartbeat sent, status={}", answer->status);
        return {};
    }
    if (answer.code() == Errc::cancelled)
        return answer.error();
    LOG_WARN(log_, "heartbeat failed: {}", answer.error().text());
    return {};
}

}  // namespace live::service::heartbeat
