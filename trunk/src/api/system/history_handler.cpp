#include "api/system/history_handler.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/common/health_rows.hpp"
#include "api/common/rows.hpp"
#include "io/fibers/loop.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using service::stats::Slot;
using service::stats::StreamPoint;
using service::stats::StreamRow;
using service::stats::StreamStats;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

constexpr int kStreamNotFound = 2048;

// The system's time of moments of the loop's clock. Both clocks are read once, together: a point has the same time in every
// answer, however late the loop's own time is.
class Clock {
public:
    std::int64_t unix_seconds(TimePoint at) const {
        const auto then = wall_ - (now_ - at);
        return std::chrono::round<std::chrono::seconds>(then.time_since_epoch()).count();
    }
    std::int64_t unix_seconds(Slot slot) const { return unix_seconds(service::stats::start_of(slot)); }
    // The slot that begins nearest to that time.
    Slot slot_at(std::int64_t seconds) const {
        const auto interval = service::stats::kHistoryInterval.count();
        const std::int64_t boot = unix_seconds(TimePoint());
        if (seconds >= unix_seconds(now_))
            return service::stats::slot_of(now_);
        return seconds < boot ? 0 : static_cast<Slot>((seconds - boot + interval / 2) / interval);
    }

private:
    const TimePoint now_ = std::chrono::steady_clock::now();
    const std::chrono::system_clock::time_point wall_ = std::chrono::system_clock::now();
};

double rounded(float value) { return std::round(static_cast<double>(value) * 100) / 100; }

// Null when it is negative.
std::optional<double> known(float value, double unit) {
    return value < 0 ? std::nullopt : std::optional(std::round(static_cast<double>(value) * unit * 100) / 100);
}

// Points of the same interval are one point, seen by several workers.
Row point_row(Slot slot, const Clock& clock) {
    Row row = {{"time", clock.unix_seconds(slot)}};
    row.key = std::to_string(slot);
    return row;
}

Row row_of(Slot slot, const StreamPoint& point, const StreamStats& stats, const Clock& clock) {
    constexpr double kMilliseconds = 1000;
    Row row = point_row(slot, clock);
    row.add("recv_kbps", rounded(point.received_kbps));
    row.add("send_kbps", rounded(point.sent_kbps), kAdd);
    row.add("fps", rounded(point.frames_per_second));
    row.add("gop", known(point.key_frame_seconds, 1));
    row.add("delay_ms", known(point.delay_seconds, kMilliseconds));
    row.add("viewers", viewer_rows(stats.players().kinds, point.viewers), kAdd);
    return row;
}

Rows events_of(const StreamRow& stream, const Clock& clock) {
    Rows rows;
    for (const auto& event : stream.record->events())
        rows.push_back(
            {{"time", clock.unix_seconds(event.at)}, {"event", event.name}, {"client", event.client}, {"text", event.text}});
    return rows;
}

// The row of the worker that has the publisher leads.
Row stream_row(const StreamRow& stream, const StreamStats& stats, std::optional<Slot> after, const Clock& clock) {
    Rows points;
    const bool is_leader = !stream.publisher.empty();
    if (stream.record)
        stream.record->history().for_each(after, [&](Slot slot, const StreamPoint& point) {
            points.push_back(row_of(slot, point, stats, clock));
            points.back().rank = is_leader;
        });
    const auto now = io::now();
    Row row = {{"interval", service::stats::kHistoryInterval.count()},
               {"points", std::move(points), kAdd},
               {"id", stream.id},
               {"publisher", stream.publisher},
               {"live_seconds",
                is_leader ? std::optional(std::chrono::duration_cast<std::chrono::seconds>(now - stream.published_at).count())
                          : std::nullopt},
               {"viewers", viewer_rows(stats.players().kinds, stream.viewers), kAdd},
               {"health", health_rows(stream, now)},
               {"events", stream.record ? events_of(stream, clock) : Rows(), kAdd}};
    row.rank = is_leader;
    return row;
}

Row server_row(const StreamStats& stats, const MachineRecord& machine, std::optional<Slot> after, const Clock& clock) {
    std::unordered_map<Slot, MachinePoint> machine_points;
    machine.history().for_each(after, [&](Slot slot, const MachinePoint& point) { machine_points.emplace(slot, point); });
    Rows points;
    stats.history().for_each(after, [&](Slot slot, const service::stats::PlayersPoint& point) {
        const auto found = machine_points.find(slot);
        const MachinePoint of_machine = found == machine_points.end() ? MachinePoint() : found->second;
        Row row = point_row(slot, clock);
        row.add("recv_kbps", rounded(of_machine.received_kbps), kAdd);
        row.add("send_kbps", rounded(of_machine.sent_kbps), kAdd);
        row.add("cpu_percent", rounded(of_machine.cpu_share), kAdd);
        row.add("machine_cpu_percent", rounded(of_machine.machine_cpu_share));
        row.add("mem_bytes", of_machine.resident_bytes, kAdd);
        row.add("lag_ms", std::round(static_cast<double>(of_machine.lag_seconds) * 100'000) / 100);
        row.add("connections", std::uint64_t{of_machine.connections}, kAdd);
        row.add("streams", std::uint64_t{point.streams}, kAdd);
        row.add("viewers", viewer_rows(stats.players().kinds, point.viewers), kAdd);
        points.push_back(std::move(row));
    });
    return {{"interval", service::stats::kHistoryInterval.count()},
            {"points", std::move(points), kAdd},
            {"viewers", viewer_rows(stats.players().kinds, stats.players().counts), kAdd}};
}

}  // namespace

Reply HistoryHandler::handle(const Request& request, io::Deadline) {
    const Clock clock;
    const std::string_view text = request.target.query.get("since");
    std::optional<Slot> after;
    if (!text.empty()) {
        std::int64_t since = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), since);
        if (error != std::errc() || end != text.data() + text.size() || since < 0)
            return error_reply(Status::bad_request, "since is no time in seconds");
        after = clock.slot_at(since);
    }
    const std::string url(request.target.query.get("stream"));
    if (url.empty())
        return row_reply(request, server_, "data", server_row(stream_stats_, machine_, after, clock));
    const StreamRow* stream = stream_stats_.find_stream_of(url);
    if (stream == nullptr)
        return error_reply(Status::not_found, kStreamNotFound, "there is no such stream");
    return row_reply(request, server_, "data", stream_row(*stream, stream_stats_, after, clock));
}

}  // namespace live::api
