#include "api/system/metrics_handlers.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <sys/utsname.h>
#include <unistd.h>

#include "api/common/rows.hpp"
#include "base/text/metrics_text.hpp"
#include "base/version.hpp"
#include "engine/workers/metrics_report.hpp"
#include "io/fibers/loop.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

using service::stats::StreamRow;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using Type = MetricsText::Type;
using Combine = MetricFamily::Combine;

using wire::http::Status;
constexpr int kExporterIsOff = 1090;
constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

// The text for Prometheus, or the report for another worker.
Reply reply_of(const Request& request, MetricsText& text) {
    if (asks_report(request))
        return report_reply(engine::workers::write_metrics_report(text.take_families()));
    return {Status::ok, kContentType, text.take(), {}};
}

Reply switched_off() { return error_reply(Status::not_found, kExporterIsOff, "exporter is off"); }

void write_node(MetricsText& text) {
    utsname node{};
    ::uname(&node);
    text.family("srs_node_uname_info", Type::gauge, "The machine, by uname; always 1.")
        .combine(Combine::greatest)
        .sample(std::uint64_t{1}, {{"sysname", node.sysname},
                                   {"nodename", node.nodename},
                                   {"release", node.release},
                                   {"version", node.version},
                                   {"machine", node.machine}});
}

// "SRS/7.1.0(Meadow)" has the name in parentheses.
std::string code_name() {
    const std::size_t open = kSignature.find('(');
    return std::string(kSignature.substr(open + 1, kSignature.find(')') - open - 1));
}

void write_build(MetricsText& text, const ServerInfo& server, const ExporterSettings& settings) {
    MetricsText::Labels labels = {{"server", server.server_id},
                                  {"service", server.service_id},
                                  {"pid", std::to_string(server.process_id)},
                                  {"build_date", server.build_date},
                                  {"major", std::to_string(kVersionMajor)},
                                  {"version", std::string(kVersion)},
                                  {"code", code_name()}};
    if (!settings.label.empty())
        labels.emplace_back("label", settings.label);
    if (!settings.tag.empty())
        labels.emplace_back("tag", settings.tag);
    text.family("srs_build_info", Type::gauge, "This server and its build; always 1.")
        .combine(Combine::first)
        .sample(std::uint64_t{1}, labels);
}

void write_process(MetricsText& text, const Measured& measured) {
    constexpr double kPercent = 100;
    constexpr std::uint64_t kKilobyte = 1024;
    const SystemFigures& figures = measured.sampler.figures();
    const auto page_kbyte = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / kKilobyte;
    const auto totals = measured.counters.totals();
    text.family("srs_cpu_percent", Type::gauge, "CPU use of the process in percent of one core, over the last seconds.")
        .by_worker()
        .sample(figures.self_cpu_share * kPercent);
    text.family("srs_memory", Type::gauge, "Resident memory in kilobytes.")
        .by_worker()
        .sample(figures.self_stat.resident_pages() * page_kbyte);
    text.family("srs_send_bytes_total", Type::counter, "Bytes sent to clients.").sample(totals.sent_bytes);
    text.family("srs_receive_bytes_total", Type::counter, "Bytes received from clients.").sample(totals.received_bytes);
    text.family("srs_streams", Type::gauge, "Streams with a client.").sample(std::uint64_t{measured.stream_stats.stream_count()});
    text.family("srs_clients", Type::gauge, "Clients that publish or play.")
        .by_worker()
        .sample(std::uint64_t{measured.stream_stats.clients().size()});
    text.family("srs_clients_total", Type::counter, "Clients that requested to publish or play since the start.")
        .sample(measured.stream_stats.totals().clients);
    text.family("srs_clients_errs_total", Type::counter, "Clients that were refused or failed since the start.")
        .sample(measured.stream_stats.totals().errors);
}

void write_own(MetricsText& text, const Measured& measured) {
    const session::FanOutCounters& sent = measured.fan_out;
    const auto& delay = sent.meter.added_delay();
    const auto& batch = sent.meter.batch_bytes();
    text.family("millrace_uptime_seconds", Type::gauge, "Time since the start.")
        .combine(Combine::greatest)
        .by_worker()
        .sample(std::chrono::duration<double>(io::now() - measured.server.started).count());
    text.family("millrace_connections", Type::gauge, "Open connections of all protocols.")
        .by_worker()
        .sample(std::uint64_t{measured.counters.totals().connections});
    text.family("millrace_players_stalled_total", Type::counter, "Players that were closed because they received nothing.")
        .sample(measured.stream_stats.totals().stalled);
    text.family("millrace_players_unpublished_total", Type::counter,
                "Players that were closed because their stream was not published for too long.")
        .sample(measured.stream_stats.totals().unpublished);
    const LogCounters log = measured.counters.totals().log;
    text.family("millrace_log_lines_left_out_total", Type::counter,
                "Warnings and errors that the rate limit of their kind suppressed.")
        .sample(log.left_out);
    text.family("millrace_log_lines_lost_total", Type::counter, "Log lines lost because the disk or the console was too slow.")
        .sample(log.lost);
    text.family("millrace_access_log_lines_lost_total", Type::counter, "Access log lines lost because the disk was too slow.")
        .sample(measured.counters.totals().access_lines_lost);
    const auto& lag = io::Loop::watch().lag();
    text.family("millrace_loop_lag_seconds", Type::histogram,
                "Time of each turn in which the event loop did not poll sockets and timers.")
        .by_worker()
        .histogram(lag.bounds(), lag.counts(), lag.sum());
    text.family("millrace_loop_long_holds_total", Type::counter,
                "Turns in which one fiber held the event loop for longer than loop_hold_limit; the log names the fiber.")
        .sample(io::Loop::watch().holds());
    text.family("millrace_fanout_sends_total", Type::counter, "Writes to players that are served in groups.").sample(sent.sends);
    text.family("millrace_fanout_handed_back_total", Type::counter,
                "Writes to such players that the socket did not accept whole.")
        .sample(sent.handed_back);
    text.family("millrace_audio_too_fast_total", Type::counter,
                "Audio frames that were not transcoded because they arrived much faster than real time.")
        .sample(measured.transcoders.too_fast());
    text.family("millrace_audio_left_out_total", Type::counter,
                "Audio frames that were not transcoded because too many of their stream waited for the worker threads.")
        .sample(measured.transcoders.left_out());
    text.family("millrace_added_delay_seconds", Type::histogram,
                "Time from the arrival of a packet to its write to a player, for each packet and player.")
        .histogram(delay.bounds(), delay.counts(), delay.sum());
    text.family("millrace_write_batch_bytes", Type::histogram, "Bytes of one write to a player.")
        .histogram(batch.bounds(), batch.counts(), batch.sum());
}

void write_places(MetricsText& text, const session::ConnectionLimits& places, const session::Protocols& protocols) {
    text.family("millrace_connections_max", Type::gauge, "max_connections, at most the limit of open files allows.")
        .combine(Combine::greatest)
        .sample(std::uint64_t{places.max()});
    text.family("millrace_addresses", Type::gauge, "Addresses with clients, or with recent requests.")
        .sample(std::uint64_t{places.addresses().size()});
    text.family("millrace_refused_total", Type::counter, "Clients that were refused, by the option that limits them.");
    const auto write_refusals = [&text](std::span<const session::Refusals> all) {
        for (const session::Refusals& refusals : all)
            text.sample(refusals.count(), {{"limit", std::string(refusals.name())}});
    };
    write_refusals(places.refusals());
    for (const session::Protocol& protocol : protocols)
        write_refusals(protocol.refusals);
}

void write_memory_budget(MetricsText& text, const session::MemoryBudget& memory) {
    using Kind = session::MemoryBudget::Kind;
    text.family("millrace_memory_budget_bytes", Type::gauge, "limits.memory_budget: the memory that clients may use.")
        .combine(Combine::greatest)
        .sample(std::uint64_t{memory.whole()});
    text.family("millrace_memory_used_bytes", Type::gauge,
                "Used part of the memory budget, by use; leaving is being released, overhead is not counted otherwise.");
    text.sample(std::uint64_t{memory.bytes(Kind::unfinished)}, {{"use", "unfinished"}});
    text.sample(std::uint64_t{memory.bytes(Kind::buffers)}, {{"use", "rtc_buffers"}});
    text.sample(std::uint64_t{memory.streams() - memory.windows()}, {{"use", "packets"}});
    text.sample(std::uint64_t{memory.windows()}, {{"use", "windows"}});
    text.sample(std::uint64_t{memory.leaving()}, {{"use", "leaving"}});
    text.sample(std::uint64_t{memory.overhead()}, {{"use", "overhead"}});
    text.family("millrace_memory_losses_total", Type::counter, "Clients and streams that were closed because they held the most.")
        .sample(memory.losses());
}

// One metric family over all selected streams.
template <class Value>
void write_streams(MetricsText& text, const std::vector<const StreamRow*>& streams, std::string_view name, Type type,
                   std::string_view help, Value&& value, Combine combine = Combine::add) {
    text.family(name, type, help).combine(combine);
    for (const StreamRow* stream : streams)
        text.sample(value(*stream), {{"stream", stream->url}});
}

void write_streams(MetricsText& text, const std::vector<const StreamRow*>& streams) {
    const auto packets_of = [](MediaKind kind) {
        return [kind](const StreamRow& stream) { return stream.counters().packets[index_of(kind)]; };
    };
    write_streams(text, streams, "millrace_stream_clients", Type::gauge, "Clients of the stream: publisher and players.",
                  [](const StreamRow& stream) { return std::uint64_t{stream.clients}; });
    write_streams(
        text, streams, "millrace_stream_published", Type::gauge, "1 while the stream is published.",
        [](const StreamRow& stream) { return std::uint64_t{stream.publisher.empty() ? 0U : 1U}; }, Combine::greatest);
    write_streams(text, streams, "millrace_stream_receive_bytes_total", Type::counter, "Bytes received from its clients.",
                  [](const StreamRow& stream) { return stream.usage.received_bytes; });
    write_streams(text, streams, "millrace_stream_send_bytes_total", Type::counter, "Bytes sent to its clients.",
                  [](const StreamRow& stream) { return stream.usage.sent_bytes; });
    write_streams(text, streams, "millrace_stream_video_packets_total", Type::counter, "Video packets published.",
                  packets_of(MediaKind::video));
    write_streams(text, streams, "millrace_stream_audio_packets_total", Type::counter, "Audio packets published.",
                  packets_of(MediaKind::audio));
    write_streams(text, streams, "millrace_stream_key_frames_total", Type::counter, "Key frames published.",
                  [](const StreamRow& stream) { return stream.counters().key_frames; });
    write_streams(text, streams, "millrace_stream_dropped_packets_total", Type::counter,
                  "Packets that slow players missed, or that a publisher sent too fast.",
                  [](const StreamRow& stream) { return stream.counters().dropped_packets; });
    write_streams(text, streams, "millrace_stream_frames_per_second", Type::gauge, "Frame rate over the last 30 seconds.",
                  [](const StreamRow& stream) { return stream.frames_per_second(); });
}

// The series of the streams that match, of at most `most` of them, and the count of the others.
void write_streams(MetricsText& text, const service::stats::StreamStats& stats, std::string_view pattern, std::size_t most) {
    std::vector<const StreamRow*> chosen;
    std::uint64_t omitted = 0;
    for (const auto& [number, stream] : stats.streams()) {
        if (stream->clients == 0 || !matches(pattern, stream->url))
            continue;
        if (chosen.size() < most)
            chosen.push_back(stream.get());
        else
            ++omitted;
    }
    text.family("millrace_streams_omitted", Type::gauge, "Matching streams that this answer leaves out.").sample(omitted);
    write_streams(text, chosen);
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
    // Where to resume when the text after the last '*' does not match: at most pattern times text steps.
    std::size_t star = std::string_view::npos;
    std::size_t after_star = 0;
    std::size_t at = 0;
    std::size_t want = 0;
    while (at < text.size()) {
        if (want < pattern.size() && pattern[want] == '*') {
            star = want++;
            after_star = at;
        } else if (want < pattern.size() && pattern[want] == text[at]) {
            ++want;
            ++at;
        } else if (star != std::string_view::npos) {
            want = star + 1;
            at = ++after_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', want) == std::string_view::npos;
}

Reply MetricsHandler::handle(const Request& request, io::Deadline) {
    if (!settings_.enabled)
        return switched_off();
    MetricsText text;
    write_node(text);
    write_build(text, measured_.server, settings_);
    write_process(text, measured_);
    write_own(text, measured_);
    write_places(text, measured_.places, measured_.protocols);
    measured_.services.write_metrics(text);
    write_memory_budget(text, measured_.places.memory());
    for (const session::Protocol& protocol : measured_.protocols)
        if (protocol.write_metrics)
            protocol.write_metrics(text);
    if (settings_.streams_max > 0)
        write_streams(text, measured_.stream_stats, "*", settings_.streams_max);
    return reply_of(request, text);
}

Reply StreamMetricsHandler::handle(const Request& request, io::Deadline) {
    if (!settings_.enabled)
        return switched_off();
    const std::string_view pattern = request.target.query.get("match", "*");
    if (pattern.size() > kPatternBytesMax)
        return error_reply(Status::bad_request, "match is too long");
    MetricsText text;
    write_streams(text, measured_.stream_stats, pattern, kStreamsMax);
    return reply_of(request, text);
}

Reply HealthHandler::handle(const Request&, io::Deadline) { return {Status::ok, "text/plain", "ok\n", {}}; }

Reply ReadyHandler::handle(const Request&, io::Deadline) {
    return readiness_.is_ready() ? Reply{Status::ok, "text/plain", "ready\n", {}}
                                 : Reply{Status::service_unavailable, "text/plain", "not ready\n", {}};
}

void add_metrics(Endpoints& endpoints, const Measured& measured, const Readiness& readiness, const ExporterSettings& settings) {
    endpoints.add<MetricsHandler>("/metrics", measured, settings);
    endpoints.add<StreamMetricsHandler>("/metrics/streams", measured, settings);
    endpoints.add<HealthHandler>("/healthz");
    endpoints.add<ReadyHandler>("/readyz", readiness);
}

}  // namespace live::api
