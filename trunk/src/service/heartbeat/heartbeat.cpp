#include "service/heartbeat/heartbeat.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/log/log_format.hpp"
#include "base/net/endpoint.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::heartbeat {

namespace {

// Without one, everything may be reachable.
bool is_reached(const Endpoint& listener, const std::string& ip) {
    const bool is_any = listener.ip == "0.0.0.0" || listener.ip == "::";
    return is_any || ip.empty() || listener.ip == ip || (listener.is_loopback() && Endpoint{ip, listener.port}.is_loopback());
}

std::vector<std::string> bare_ports(const std::vector<std::string>& texts, const std::string& ip) {
    std::vector<std::string> ports;
    for (const std::string& text : texts) {
        const auto listeners = parse_endpoint(text);
        if (!listeners.ok())
            continue;
        for (const Endpoint& listener : *listeners)
            if (const std::string port = std::to_string(listener.port);
                is_reached(listener, ip) && std::ranges::find(ports, port) == ports.end())
                ports.push_back(port);
    }
    return ports;
}

}  // namespace

bool is_registration(const HeartbeatOptions& options) {
    const std::string_view url = options.url;
    return url.substr(0, url.find('?')).ends_with("/api/v1/srs/register");
}

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
    const bool registers = is_registration(options);
    if (options.ports || registers) {
        body["rtmp"] = registers ? bare_ports(facts.rtmp, facts.ip) : facts.rtmp;
        body["http"] = registers ? bare_ports(facts.http, facts.ip) : facts.http;
        body["api"] = registers ? bare_ports(facts.api, facts.ip) : facts.api;
        for (const auto& [name, addresses] : facts.others)
            if (!addresses.empty())
                body[name] = addresses;
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

// Logs once which protocols the proxy cannot serve to its clients.
void Heartbeat::check_reach(const HeartbeatOptions& options, const Facts& facts) {
    if (!is_registration(options) || std::exchange(unreachable_logged_, true))
        return;
    for (const auto& [name, listeners] :
         {std::pair("RTMP", &facts.rtmp), std::pair("HTTP", &facts.http), std::pair("API", &facts.api)})
        if (!listeners->empty() && bare_ports(*listeners, facts.ip).empty())
            LOG_WARN(log_, "heartbeat: {} is not registered with the proxy: it does not listen at {}, only at {}", name, facts.ip,
                     fmt::join(*listeners, ", "));
}

// Fails only when cancelled: an unreachable service is tried again.
Result<void> Heartbeat::beat(const HeartbeatOptions& options, io::Deadline deadline) {
    http_client::HttpCall call;
    call.url = options.url;
    call.headers.add("Content-Type", "application/json");
    if (options.auth.enabled)
        call.headers.add("Authorization", "Bearer " + options.auth.token);
    const Facts facts = source_.facts();
    check_reach(options, facts);
    call.body = body_of(options, facts);
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
