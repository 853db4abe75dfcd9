#include "bench/load/load_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text/json_text.hpp"
#include "base/version.hpp"

namespace live::bench {
namespace {

using Json = nlohmann::json;

double to_ms(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1e3; }
double rounded(double value) { return std::round(value * 1000) / 1000; }

Percentiles percentiles_of(const LogHistogram& delays) {
    const auto at = [&](double share) { return static_cast<double>(delays.quantile(share)) / 1e3; };
    return {delays.count(), at(0), at(0.5), at(0.9), at(0.99), static_cast<double>(delays.max()) / 1e3};
}

Json json_of(const Percentiles& values) {
    return {{"count", values.count},      {"min", rounded(values.min)}, {"p50", rounded(values.p50)},
            {"p90", rounded(values.p90)}, {"p99", rounded(values.p99)}, {"max", rounded(values.max)}};
}

}  // namespace

Percentiles percentiles_of(std::vector<double> values) {
    if (values.empty())
        return {};
    std::ranges::sort(values);
    const auto at = [&](double share) {
        const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
        return values[std::max<std::size_t>(rank, 1) - 1];
    };
    return {values.size(), values.front(), at(0.5), at(0.9), at(0.99), values.back()};
}

LoadResult::LoadResult(Tool tool, const LoadOptions& options, const LoadTotals& totals, std::span<const ClientMeter> clients,
                       std::chrono::nanoseconds passed)
    : tool_(tool), options_(options), totals_(totals), clients_(clients), passed_(passed) {
    measure_rate();
    gather();
}

void LoadResult::measure_rate() {
    kbps_ = options_.kbps;
    if (kbps_ > 0)
        return;
    std::vector<double> rates;
    for (const ClientMeter& client : clients_) {
        if (client.media_time() > std::chrono::seconds(1))
            rates.push_back(static_cast<double>(client.bytes()) * 8 / static_cast<double>(client.media_time().count()));
    }
    kbps_ = percentiles_of(std::move(rates)).p50;
}

// A live stream delivers a second of media per second: the bytes expected while the client played.
double LoadResult::expected_bytes(const ClientMeter& client) const {
    return kbps_ * 125 * static_cast<double>(client.playing_time().count()) / 1e6;
}

void LoadResult::gather() {
    const auto add = [this](std::string_view name, std::string_view text, auto value_of) {
        std::vector<double> values;
        for (const ClientMeter& client : clients_) {
            if (const std::optional<double> value = value_of(client))
                values.push_back(*value);
        }
        metrics_.push_back({name, text, percentiles_of(std::move(values))});
    };
    const auto has_played = [](const ClientMeter& client) { return client.first_frame_time().has_value(); };
    const auto only_ms = [](const std::optional<std::chrono::microseconds>& time) {
        return time ? std::optional(to_ms(*time)) : std::nullopt;
    };
    add("connect_ms", "connected after, ms", [&](const ClientMeter& c) { return only_ms(c.connect_time()); });
    const bool sends = publishes(tool_, options_);
    const bool plays = !sends && tool_ != Tool::http_load && tool_ != Tool::rtmp_load_fast;
    add("first_frame_ms",
        sends   ? "publishing after, ms"
        : plays ? "first frame after, ms"
                : "first byte after, ms",
        [&](const ClientMeter& c) { return only_ms(c.first_frame_time()); });
    add("mbytes", sends ? "sent, MB" : "received, MB",
        [](const ClientMeter& c) { return std::optional(static_cast<double>(c.bytes()) / 1e6); });
    const auto count = [&](auto member) {
        return [member, has_played](const ClientMeter& c) {
            return has_played(c) ? std::optional(static_cast<double>((c.*member)())) : std::nullopt;
        };
    };
    if (tool_ == Tool::rtc_load)
        add("packets", sends ? "packets sent" : "packets received", count(&ClientMeter::packets));
    if (sends) {
        add("late_ms", "sent late by at most, ms",
            [&](const ClientMeter& c) { return has_played(c) ? std::optional(to_ms(c.late_max())) : std::nullopt; });
    }
    if (!plays)
        return;
    add("delivered", "received / expected bytes", [&](const ClientMeter& c) {
        const double expected = expected_bytes(c);
        return expected > 0 ? std::optional(static_cast<double>(c.bytes()) / expected) : std::nullopt;
    });
    if (tool_ == Tool::rtc_load)
        add("lost_packets", "packets lost for good", count(&ClientMeter::lost_packets));
    add("gaps", "gaps in media time", count(&ClientMeter::gaps));
    add("gap_ms", "media missing in them, ms",
        [&](const ClientMeter& c) { return has_played(c) ? std::optional(to_ms(c.gap_time())) : std::nullopt; });
    add("stalls", "stalls of a viewer", count(&ClientMeter::stalls));
    add("stall_ms", "stalled for, ms",
        [&](const ClientMeter& c) { return has_played(c) ? std::optional(to_ms(c.stall_time())) : std::nullopt; });
    metrics_.push_back({"delay_ms", "delay of stamped media, ms", percentiles_of(totals_.delays)});
}

std::string LoadResult::text() const {
    const double seconds = static_cast<double>(passed_.count()) / 1e9;
    const auto rate = [&](std::uint64_t bytes) { return seconds > 0 ? static_cast<double>(bytes) * 8e-6 / seconds : 0; };
    std::string text = fmt::format("{} {}: {} clients, {:.1f} s, {} tasks, {} failed; {:.2f} Mbps in, {:.2f} Mbps out",
                                   name_of(tool_), options_.url, totals_.clients, seconds, totals_.tasks, totals_.failed,
                                   rate(totals_.bytes_in), rate(totals_.bytes_out));
    if (totals_.sub_tasks > 0)
        text += fmt::format("; {} fragments, {} failed", totals_.sub_tasks, totals_.sub_failed);
    text += kbps_ > 0 ? fmt::format("; a stream of {:.0f} kbps\n", kbps_) : "\n";
    text +=
        fmt::format("{:<28}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "over clients", "count", "min", "p50", "p90", "p99", "max");
    for (const Metric& metric : metrics_) {
        if (metric.values.count == 0)
            continue;
        text += fmt::format("{:<28}{:>10}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}\n", metric.text, metric.values.count,
                            metric.values.min, metric.values.p50, metric.values.p90, metric.values.p99, metric.values.max);
    }
    return text;
}

std::string LoadResult::json() const {
    Json metrics = Json::object();
    for (const Metric& metric : metrics_)
        metrics[std::string(metric.name)] = json_of(metric.values);
    Json clients = Json::array();
    for (const ClientMeter& c : clients_) {
        clients.push_back({c.tasks(), c.failed(), c.bytes(), rounded(to_ms(c.connect_time().value_or(-1000us))),
                           rounded(to_ms(c.first_frame_time().value_or(-1000us))), rounded(to_ms(c.playing_time())),
                           c.media_time().count(), std::llround(expected_bytes(c)), c.gaps(), c.gap_time().count(), c.stalls(),
                           c.stall_time().count(), rounded(to_ms(c.delay_mean())), rounded(to_ms(c.delay_max())),
                           rounded(to_ms(c.late_max())), c.packets(), c.lost_packets()});
    }
    const Json whole = {
        {"tool", name_of(tool_)},
        {"version", kVersion},
        {"url", options_.url},
        {"seconds", rounded(static_cast<double>(passed_.count()) / 1e9)},
        {"clients", totals_.clients},
        {"alive", totals_.alive_at_stop},
        {"tasks", totals_.tasks},
        {"failed", totals_.failed},
        {"fragments", totals_.sub_tasks},
        {"fragments_failed", totals_.sub_failed},
        {"bytes_in", totals_.bytes_in},
        {"bytes_out", totals_.bytes_out},
        {"kbps", rounded(kbps_)},
        {"metrics", metrics},
        {"client_fields",
         {"tasks", "failed", "bytes", "connect_ms", "first_frame_ms", "playing_ms", "media_ms", "expected_bytes", "gaps",
          "gap_ms", "stalls", "stall_ms", "delay_mean_ms", "delay_max_ms", "late_max_ms", "packets", "lost_packets"}},
        {"per_client", clients},
    };
    return text_of(whole) + "\n";
}

}  // namespace live::bench
