#include "bench/load/load_window.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "bench/load/load_result.hpp"

namespace live::bench {
namespace {

using std::chrono::microseconds;

double to_ms(std::uint64_t micros) { return static_cast<double>(micros) / 1e3; }

}  // namespace

void LoadWindow::tick(TimePoint now) {
    lag_.note(now, totals_.leader_bytes);
    if (side_ != Side::plays || now < next_lag_)
        return;
    next_lag_ = now + kLagStep;
    for (const ClientMeter& client : clients_) {
        const auto behind = std::chrono::duration_cast<microseconds>(lag_.behind(now, client.bytes()));
        lags_.add(static_cast<std::uint64_t>(behind.count()));
    }
}

void LoadWindow::mark(TimePoint now, SystemMicros wall) {
    marked_at_ = now;
    bytes_at_mark_ = total_bytes();
    stamps_at_mark_ = totals_.stamps;
    totals_.late_max = microseconds(0);
    lags_.clear();
    frames_.restart(wall);
}

std::string LoadWindow::line(std::string_view event, TimePoint now) const {
    nlohmann::ordered_json line;
    line["event"] = event;
    line["seconds"] = std::chrono::duration<double>(now - marked_at_).count();
    line["clients"] = totals_.clients;
    line["open"] = totals_.open;
    line["failed"] = totals_.failed;
    line["window_bytes"] = total_bytes() - bytes_at_mark_;
    line["total_bytes"] = total_bytes();
    const auto [least, most] = std::ranges::minmax_element(clients_, {}, &ClientMeter::bytes);
    line["bytes_min"] = clients_.empty() ? 0 : least->bytes();
    line["bytes_max"] = clients_.empty() ? 0 : most->bytes();
    line["first_bytes"] = clients_.empty() ? 0 : clients_.front().bytes();
    line["media_bytes"] = totals_.media.bytes;
    line["audio_messages"] = totals_.media.audio_messages;
    line["video_messages"] = totals_.media.video_messages;
    if (side_ == Side::publishes) {
        line["late_ms_max"] = to_ms(static_cast<std::uint64_t>(totals_.late_max.count()));
        line["stamps"] = totals_.stamps - stamps_at_mark_;
        return text_of(line);
    }
    line["times_went_back"] = totals_.media.times_went_back;
    line["lag_ms_p50"] = to_ms(lags_.quantile(0.5));
    line["lag_ms_p99"] = to_ms(lags_.quantile(0.99));
    line["lag_ms_max"] = to_ms(lags_.max());
    const Percentiles newest = percentiles_of(frames_.newest_ms());
    const Percentiles slowest = percentiles_of(frames_.slowest_ms());
    line["frames"] = newest.count;
    line["frames_incomplete"] = frames_.incomplete();
    line["newest_ms_p50"] = newest.p50;
    line["newest_ms_p99"] = newest.p99;
    line["slowest_ms_p50"] = slowest.p50;
    line["slowest_ms_p99"] = slowest.p99;
    line["slowest_ms_max"] = slowest.max;
    return text_of(line);
}

}  // namespace live::bench
