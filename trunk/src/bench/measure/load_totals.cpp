#include "bench/measure/load_totals.hpp"

#include <fmt/format.h>

#include <ctime>

namespace live::bench {
namespace {

double mbps(std::uint64_t bytes, std::chrono::nanoseconds time) {
    const double micros = static_cast<double>(time.count()) / 1e3;
    return micros > 0 ? static_cast<double>(bytes) * 8 / micros : 0;
}

double ms(std::uint64_t micros) { return static_cast<double>(micros) / 1e3; }

}  // namespace

std::string local_time(std::chrono::microseconds when) {
    const auto seconds = static_cast<std::time_t>(when.count() / 1'000'000);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec, when.count() / 1000 % 1000);
}

std::string report_line(const LoadTotals& totals, std::chrono::microseconds when, std::int64_t pid,
                        std::chrono::nanoseconds passed) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
    const auto in_tasks = std::chrono::duration_cast<std::chrono::seconds>(totals.task_time).count();
    const auto task_seconds = totals.finished > 0 ? in_tasks / static_cast<std::int64_t>(totals.finished) : 0;
    return fmt::format(
        "[{}] [report] [{}] threads:{} alive:{} duration:{} tduration:{} nread:{:.2f} nwrite:{:.2f} tasks:{} etasks:{} stasks:{} "
        "estasks:{}\n",
        local_time(when), pid, totals.clients, totals.alive, seconds, task_seconds, mbps(totals.bytes_in, passed),
        mbps(totals.bytes_out, passed), totals.tasks, totals.failed, totals.sub_tasks, totals.sub_failed);
}

std::string progress_line(const LoadTotals& totals) {
    return fmt::format("starting: {} of {} clients, {} at work, {} tasks failed\n", totals.started, totals.clients, totals.alive,
                       totals.failed);
}

std::string csv_row(std::uint64_t second, const LoadTotals& now, const LoadTotals& before, std::chrono::nanoseconds since) {
    const LogHistogram& delays = now.delays_second;
    return fmt::format("{},{},{},{},{},{},{},{:.3f},{:.3f},{},{},{:.3f},{:.3f},{:.3f}\n", second, now.started, now.alive,
                       now.tasks, now.failed, now.sub_tasks, now.sub_failed, mbps(now.bytes_in - before.bytes_in, since),
                       mbps(now.bytes_out - before.bytes_out, since), now.gaps, delays.count(), ms(delays.quantile(0.5)),
                       ms(delays.quantile(0.99)), ms(delays.max()));
}

}  // namespace live::bench
