// The result of a load: each client's values and their percentiles, as a table for people and as JSON for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/load_options.hpp"
#include "bench/measure/client_meter.hpp"
#include "bench/measure/load_totals.hpp"

namespace live::bench {

// Percentiles of a list of values, by nearest rank. All 0 for an empty list.
struct Percentiles {
    std::size_t count = 0;
    double min = 0;
    double p50 = 0;
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};
Percentiles percentiles_of(std::vector<double> values);

struct Metric {
    std::string_view name;  // "first_frame_ms"
    std::string_view text;  // "first frame, ms"
    Percentiles values;
};

class LoadResult {
public:
    LoadResult(Tool tool, const LoadOptions& options, const LoadTotals& totals, std::span<const ClientMeter> clients,
               std::chrono::nanoseconds passed);

    // Over the clients that have the figure; delays over all stamped messages.
    const std::vector<Metric>& metrics() const { return metrics_; }
    // The stream's bit rate: from the options, or the clients' median of bytes per second of media. 0: unknown.
    double kbps() const { return kbps_; }

    std::string text() const;
    // One object; per client an array of figures in the order of "client_fields".
    std::string json() const;

private:
    double expected_bytes(const ClientMeter& client) const;
    void measure_rate();
    void gather();

    Tool tool_;
    const LoadOptions& options_;
    const LoadTotals& totals_;
    std::span<const ClientMeter> clients_;
    std::chrono::nanoseconds passed_;
    double kbps_ = 0;
    std::vector<Metric> metrics_;
};

}  // namespace live::bench
